#!/usr/bin/env bash
# Postfix submission in its own folder, SASL from a sasldb, mail discarded after queueing.
# Debian packages: postfix libsasl2-modules sasl2-bin. Needs root, as Postfix does.
set -euo pipefail
folder=$1 port=$2
root=$folder/postfix
rm -rf "$root" && mkdir -p "$root"/{etc,queue,data}
chown postfix "$root"/data && chmod 755 "$folder" "$root"
cat > "$root/etc/main.cf" <<CF
compatibility_level = 3.6
myhostname = relay.example
mydestination =
queue_directory = $root/queue
data_directory = $root/data
inet_interfaces = 127.0.0.1
maillog_file = $root/data/mail.log
maillog_file_prefixes = $root
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
# Debian's smtpd always reads this sasldb.
echo "$3" | saslpasswd2 -p -c -u relay.example apikey
chgrp postfix /etc/sasldb2 && chmod 640 /etc/sasldb2
postconf -c "$root/etc" -e alternate_config_directories= >/dev/null
postfix -c "$root/etc" check
exec /usr/lib/postfix/sbin/master -c "$root/etc" -d
