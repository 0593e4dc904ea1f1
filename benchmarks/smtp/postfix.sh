#!/usr/bin/env bash
# Postfix submission in a folder of its own, SASL from a sasldb, mail discarded after queueing.
# Debian packages: postfix libsasl2-modules sasl2-bin. Needs root, as Postfix does.
set -euo pipefail
folder=$1 port=$2
root=$folder/postfix
rm -rf "$root" && mkdir -p "$root"/{etc,queue,data,sasl}
chown postfix "$root"/data && chmod 755 "$folder" "$root"
cat > "$root/etc/main.cf" <<CF
compatibility_level = 3.6
myhostname = relay.example
mydestination =
queue_directory = $root/queue
data_directory = $root/data
inet_interfaces = 127.0.0.1
maillog_file = /dev/null
maillog_file_prefixes = /dev
message_size_limit = 33554432
mailbox_size_limit = 0
default_transport = discard
relay_transport = discard
local_recipient_maps =
smtpd_tls_security_level = encrypt
smtpd_tls_cert_file = $folder/cert.pem
smtpd_tls_key_file = $folder/key.pem
smtpd_sasl_auth_enable = yes
smtpd_sasl_path = smtpd
cyrus_sasl_config_path = $root/sasl
smtpd_sasl_local_domain = relay.example
smtpd_recipient_restrictions = permit_sasl_authenticated,reject
smtpd_client_connection_count_limit = 0
smtpd_client_connection_rate_limit = 0
smtpd_peername_lookup = no
CF
sed -e 's/^\(smtp  *inet\)/#\1/' /etc/postfix/master.cf > "$root/etc/master.cf"
sed -i -E 's/^([a-z]+ +(unix|fifo) +[^ ]+ +[^ ]+ +)y/\1n/' "$root/etc/master.cf"
echo "127.0.0.1:$port inet n - n - 100 smtpd" >> "$root/etc/master.cf"
cp /etc/postfix/dynamicmaps.cf /etc/postfix/postfix-files "$root/etc/" 2>/dev/null || true
cat > "$root/sasl/smtpd.conf" <<CF
pwcheck_method: auxprop
auxprop_plugin: sasldb
mech_list: PLAIN LOGIN
sasldb_path: $root/sasl/sasldb2
CF
echo "$3" | saslpasswd2 -p -c -u relay.example -f "$root/sasl/sasldb2" apikey
chmod 755 "$root/sasl" && chmod 644 "$root/sasl/sasldb2"
postconf -c "$root/etc" -e alternate_config_directories= >/dev/null
exec /usr/lib/postfix/sbin/master -c "$root/etc" -d
