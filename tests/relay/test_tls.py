"""STARTTLS: commands before it, together with it and after it, on real sockets."""

import socket
import ssl
import warnings

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from local.relay import self_signed
from tests.relay.running_relay import (
    AUTHENTICATED,
    KEY,
    SENDER,
    TO,
    RunningRelay,
    plain,
    trusting_context,
)
from tests.stack import PATIENCE


@pytest.mark.parametrize(
    "command",
    [f"AUTH PLAIN {plain(KEY)}", "AUTH LOGIN", f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{TO}>", "DATA"],
)
def test_tls_is_required(relay: RunningRelay, command: str) -> None:
    """AUTH, MAIL, RCPT and DATA before STARTTLS get 530 5.7.0."""
    with relay.connect_plaintext() as client:
        client.command("EHLO client.example")
        assert client.command(command).startswith(b"530 5.7.0 ")


def test_announced_extensions(relay: RunningRelay) -> None:
    """STARTTLS is announced only before TLS, and AUTH only in TLS before the login."""
    with relay.connect_plaintext() as client:
        clear = client.command("EHLO client.example")
        client.start_tls()
        secure = client.command("EHLO client.example")
        assert client.command(f"AUTH PLAIN {plain(KEY)}") == AUTHENTICATED
        authenticated = client.command("EHLO client.example")
    always = [b"PIPELINING", b"SIZE 16777216", b"8BITMIME", b"ENHANCEDSTATUSCODES"]
    offers = [
        [line[4:] for line in reply.split(b"\r\n")[1:-1]]
        for reply in (clear, secure, authenticated)
    ]
    assert offers == [[*always, b"STARTTLS"], [*always, b"AUTH PLAIN LOGIN"], always]


def test_commands_sent_ahead_of_tls_are_dropped(relay: RunningRelay) -> None:
    """Commands in the same segment as STARTTLS are not answered inside TLS (RFC 3207, 4.2)."""
    with relay.connect_plaintext() as client:
        client.command("EHLO client.example")
        client.send(b"STARTTLS\r\nEHLO injected.example\r\nNOOP\r\n")
        assert client.reply().startswith(b"220 2.0.0 ")
        client.wrap()
        assert client.command("HELP").startswith(b"214 2.0.0 ")


def test_a_greeting_before_tls_is_forgotten(relay: RunningRelay) -> None:
    """After STARTTLS the client has to greet again (RFC 3207, 4.2)."""
    with relay.connect_plaintext() as client:
        client.command("EHLO client.example")
        client.start_tls()
        assert client.command(f"AUTH PLAIN {plain(KEY)}").startswith(b"503 5.5.1 ")
        client.command("HELO client.example")
        assert client.command(f"AUTH PLAIN {plain(KEY)}") == AUTHENTICATED


def test_starttls_inside_tls_is_refused(relay: RunningRelay) -> None:
    """STARTTLS inside TLS gets 503 5.5.1."""
    with relay.connect_tls() as client:
        assert client.command("STARTTLS").startswith(b"503 5.5.1 ")


def test_starttls_takes_no_argument(relay: RunningRelay) -> None:
    """STARTTLS with an argument gets 501 5.5.4 and starts nothing."""
    with relay.connect_plaintext() as client:
        assert client.command("STARTTLS now").startswith(b"501 5.5.4 ")
        assert client.command("NOOP").startswith(b"250 ")


def test_old_tls_is_refused(relay: RunningRelay) -> None:
    """The handshake of a client that supports only TLS 1.1 or older fails."""
    context = trusting_context()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    with relay.connect_plaintext() as client:
        client.command("STARTTLS")
        with pytest.raises((ssl.SSLError, ConnectionError)):
            client.wrap(context)


def test_command_in_the_segment_of_the_handshake(relay: RunningRelay) -> None:
    with relay.connect_plaintext() as client:
        client.command("STARTTLS")
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = trusting_context().wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
        with pytest.raises(ssl.SSLWantReadError):
            tls.do_handshake()
        client.send(outgoing.read())
        while True:
            incoming.write(client.sock.recv(65_536))
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                continue
        tls.write(b"NOOP\r\n")
        client.send(outgoing.read())
        reply = b""
        while not reply:
            incoming.write(client.sock.recv(65_536))
            try:
                reply = tls.read()
            except ssl.SSLWantReadError:
                continue
        assert reply == b"250 2.0.0 Ok\r\n"


def test_plaintext_is_no_handshake(relay: RunningRelay) -> None:
    with relay.connect_plaintext() as client:
        assert client.command("STARTTLS").startswith(b"220 ")
        client.send(b"EHLO injected.example\r\nNOOP\r\n")
        assert client.closed()


def test_no_plaintext_reply_after_starttls(relay: RunningRelay) -> None:
    group = f"EHLO c.example\r\nSTARTTLS\r\nAUTH PLAIN {plain(KEY)}\r\nQUIT\r\n".encode()
    for cut in range(20, len(group), 7):
        with relay.connect_plaintext() as client:
            client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.send(group[:cut])
            client.send(group[cut:])
            client.sock.shutdown(socket.SHUT_WR)
            replies = list(iter(client.reply_or_end, b""))
            assert [reply[:4] for reply in replies][-1] == b"220 "
            assert len(replies) <= 2
    assert relay.service.authentications == 0


def test_garbage_within_tls(relay: RunningRelay) -> None:
    """Octets that are not a TLS record end the connection, and nothing is accepted."""
    with relay.connect_authenticated() as client:
        client.envelope()
        client.send(b"half\r\n")
        assert isinstance(client.sock, ssl.SSLSocket)
        with socket.socket(fileno=client.sock.detach()) as underneath:
            underneath.settimeout(PATIENCE)
            underneath.sendall(b"\r\n.\r\n" * 10)
            while underneath.recv(65_536):
                pass
    assert relay.service.accepted == []


def test_end_of_tls_within_a_message(relay: RunningRelay) -> None:
    with relay.connect_authenticated() as client:
        client.envelope()
        client.send(b"half\r\n")
        assert isinstance(client.sock, ssl.SSLSocket)
        client.sock = client.sock.unwrap()
        client.send(b".\r\n")
        assert client.closed()
    assert relay.service.accepted == []


def test_certificate_of_the_local_stack() -> None:
    """`make up` makes an ECDSA certificate on P-256, as docs/relay.md advises."""
    key = x509.load_pem_x509_certificate(self_signed().chain).public_key()
    assert isinstance(key, ec.EllipticCurvePublicKey)
    assert key.curve.name == "secp256r1"
