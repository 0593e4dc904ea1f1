"""Commands that are wrong, out of order or not supported, on real sockets."""

import pytest

from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key_policy import Principal
from tests.fakes import builders
from tests.relay.running_relay import (
    KEY,
    SENDER,
    TO,
    Client,
    RunningRelay,
)

UNVERIFIED = "is not a verified sender of this account; its default is"
ASCII = "must be ASCII: an international domain is written with xn--"
CHARACTERS = "the part before the @ has characters that are not allowed"


def test_free_accounts_send_from_their_default_sender(relay: RunningRelay) -> None:
    account = builders.account(plan=Plan.FREE, senders={SENDER: True, "b@shop.example": True})
    relay.service.principal = Principal(builders.api_key(KEY), account)
    with relay.connect_authenticated() as client:
        assert client.command("MAIL FROM:<b@shop.example>").startswith(b"550 5.7.1 ")
        assert client.command(f"MAIL FROM:<{SENDER}>").startswith(b"250 ")


def test_sender_verified_since_auth(relay: RunningRelay) -> None:
    with relay.connect_authenticated() as client:
        account = builders.account(senders={SENDER: True, "new@shop.example": True})
        relay.service.principal = Principal(builders.api_key(KEY), account)
        assert client.command("MAIL FROM:<new@shop.example>").startswith(b"250 ")


@pytest.mark.parametrize(
    ("argument", "reply"),
    [
        (f"FROM:{SENDER}", b"501 5.5.4"),
        ("FROM:<>", b"250 2.1.0"),
        (f"FROM: <{SENDER}>", b"250 2.1.0"),
        (f"FROM:\t <{SENDER}>  SIZE=10 \tBODY=8BITMIME", b"250 2.1.0"),
        (f"FROM:<{SENDER}> SIZE=16777216", b"250 2.1.0"),
        (f"FROM:<{SENDER}> body=7bit size=0", b"250 2.1.0"),
        (f"FROM:<{SENDER}> AUTH=<>", b"250 2.1.0"),  # RFC 4954 section 5
        ("FROM:<hello@shop.example.evil.example>", b"550 5.7.1"),
        (f"TO:<{SENDER}>", b"501 5.5.4"),
        (f"FROM:<{SENDER}", b"501 5.5.4"),
        (f"FROM:<{SENDER}>x", b"501 5.5.4"),
        (f"FROM:<{SENDER}> SIZE=x", b"501 5.5.4"),
        (f"FROM:<{SENDER}> SIZE", b"501 5.5.4"),
        (f"FROM:<{SENDER}> SIZE=1=1", b"501 5.5.4"),
        (f"FROM:<{SENDER}> SIZE=1 SIZE=1", b"501 5.5.4"),
        (f"FROM:<{SENDER}> BODY=BINARYMIME", b"501 5.5.4"),
        (f"FROM:<{SENDER}> SMTPUTF8", b"555 5.5.4"),
        (f"FROM:<{SENDER}> RET=FULL", b"555 5.5.4"),
        ("FROM:<root>", b"501 5.1.7"),
        ("FROM:<@relay.example:a@b.example>", b"501 5.1.7"),
        ("FROM:<é@shop.example>", b"553 5.6.7"),
        (f"FROM:<{SENDER}> SIZE=16777217", b"552 5.3.4"),
        (f"FROM:<{SENDER}> SIZE=99999999999999999999", b"552 5.3.4"),
    ],
)
def test_mail_arguments(client: Client, argument: str, reply: bytes) -> None:
    """MAIL accepts only a path in brackets and the announced parameters."""
    assert client.command(f"MAIL {argument}").startswith(reply)


@pytest.mark.parametrize(
    ("argument", "reply"),
    [
        ("TO:<>", b"501 5.1.3"),
        ("TO:<@relay.example:a@b.example>", b"501 5.1.3"),
        ("TO:<a@[127.0.0.1]>", b"501 5.1.3"),
        ("TO:<root>", b"501 5.1.3"),
        ("TO:<postmaster>", b"501 5.1.3"),
        ("TO:<a@localhost>", b"501 5.1.3"),
        ('TO:<"a b"@example.com>', b"501 5.1.3"),
        (f"TO:<{'x' * 65}@example.com>", b"501 5.1.3"),
        ("TO:<é@example.com>", b"553 5.6.7"),
        ("TO:a@b.example", b"501 5.5.4"),
        (f"TO:<{TO}> NOTIFY=NEVER", b"555 5.5.4"),
    ],
)
def test_rcpt_arguments(client: Client, argument: str, reply: bytes) -> None:
    """RCPT accepts one mailbox, but no source route, literal, local name or parameter."""
    client.command(f"MAIL FROM:<{SENDER}>")
    assert client.command(f"RCPT {argument}").startswith(reply)


@pytest.mark.parametrize(
    ("command", "reply"),
    [
        (
            "MAIL FROM:<x@shop.example>",
            f"550 5.7.1 x@shop.example {UNVERIFIED} {SENDER}.",
        ),
        ("MAIL FROM:<root>", "501 5.1.7 <root> not an address of the form name@domain"),
        ("RCPT TO:<a@localhost>", "501 5.1.3 <a@localhost> the domain is not a public name"),
        (
            "RCPT TO:<é\\@example.com>",
            f"553 5.6.7 <\\x{{E9}}\\x{{5C}}@example.com> {ASCII}",
        ),
        (
            "RCPT TO:<a\x1b\x7f\t@example.com>",
            f"501 5.1.3 <a\\x{{1B}}\\x{{7F}}\\x{{09}}@example.com> {CHARACTERS}",
        ),
        (f"RCPT TO:{TO}", "501 5.5.4 Write RCPT TO:<address>"),
        (
            f"RCPT TO:<{TO}> NOTIFY=NEVER",
            "555 5.5.4 NOTIFY: not a parameter of this server; EHLO names its extensions",
        ),
    ],
)
def test_a_reply_names_what_is_refused(client: Client, command: str, reply: str) -> None:
    """A reply shows the refused address, encoded as in RFC 6533, and says how to correct it."""
    if command.startswith("RCPT"):
        client.command(f"MAIL FROM:<{SENDER}>")
    assert client.command(command) == f"{reply}\r\n".encode()


def test_nothing_is_repeated_before_the_login(relay: RunningRelay) -> None:
    with relay.connect_tls() as client:
        for line in (KEY, f"MAIL FROM:<{KEY}>", f"RCPT TO:<{KEY}>", f"AUTH {KEY}", f"NOOP {KEY}"):
            assert KEY not in client.command(line).decode()


def test_fifty_recipients(relay: RunningRelay) -> None:
    """The 51st recipient gets 452 4.5.3, and the message goes to the first fifty."""
    with relay.connect_authenticated() as client:
        client.command(f"MAIL FROM:<{SENDER}>")
        for number in range(50):
            assert client.command(f"RCPT TO:<r{number}@example.com>").startswith(b"250 ")
        assert client.command("RCPT TO:<r50@example.com>").startswith(b"452 4.5.3 ")
        client.command("DATA")
        client.send(b"\r\n.\r\n")
        assert client.reply().startswith(b"250 ")
    assert len(relay.service.accepted[0][0]) == 50


def test_commands_out_of_order(client: Client) -> None:
    """RCPT before MAIL, DATA before RCPT, and MAIL in a transaction get 503 5.5.1."""
    assert client.command(f"RCPT TO:<{TO}>").startswith(b"503 5.5.1 ")
    assert client.command("DATA").startswith(b"503 5.5.1 ")
    client.command(f"MAIL FROM:<{SENDER}>")
    assert client.command("DATA").startswith(b"503 5.5.1 ")
    assert client.command(f"MAIL FROM:<{SENDER}>").startswith(b"503 5.5.1 ")


@pytest.mark.parametrize("reset", ["RSET", "EHLO again.example", "HELO again.example"])
def test_reset_ends_the_transaction(client: Client, reset: str) -> None:
    """RSET, EHLO and HELO end the transaction (RFC 5321, 4.1.4)."""
    client.command(f"MAIL FROM:<{SENDER}>")
    assert client.command(reset).startswith(b"250")
    assert client.command(f"RCPT TO:<{TO}>").startswith(b"503 5.5.1 ")


@pytest.mark.parametrize(
    ("command", "reply"),
    [
        ("VRFY ann", b"252 "),
        ("VRFY", b"501 5.5.4 "),
        ("EXPN staff", b"502 5.5.1 "),
        ("HELP", b"214 2.0.0 "),
        ("NOOP whatever", b"250 2.0.0 "),
        ("BDAT 5 LAST", b"500 5.5.1 "),
        ("XCLIENT ADDR=127.0.0.1", b"500 5.5.1 "),
        ("ETRN example.com", b"500 5.5.1 "),
        ("", b"500 5.5.1 "),
        ("\x16\x03\x01", b"500 5.5.1 "),
        ("GET / HTTP/1.1", b"500 5.5.1 "),
        ("EHLO", b"501 5.5.4 "),
        ("EHLO a b", b"250"),
        ("EHLO MÜLLER-PC", b"250"),
        ("EHLO ", b"501 5.5.4 EHLO and HELO need"),
        ("DATA now", b"501 5.5.4 "),
        ("RSET now", b"501 5.5.4 "),
        ("QUIT now", b"501 5.5.4 "),
        ("NOOP " + "x" * 506, b"500 5.5.2 "),
        ("NOOP " + "x" * 100_000, b"500 5.5.2 "),
    ],
)
def test_other_commands(client: Client, command: str, reply: bytes) -> None:
    """Other commands and lines that are not commands get a reply, and the session continues."""
    assert client.command(command).startswith(reply)
    assert client.command("NOOP") == b"250 2.0.0 Ok\r\n"


def test_pipelining(relay: RunningRelay) -> None:
    """Pipelined commands are answered in order (RFC 2920), also with two messages."""
    transaction = f"MAIL FROM:<{SENDER}>\r\nRCPT TO:<{TO}>\r\nDATA\r\n".encode()
    with relay.connect_authenticated() as client:
        client.send(transaction)
        assert [client.reply()[:3] for _ in range(3)] == [b"250", b"250", b"354"]
        client.send(b"One\r\n.\r\n" + transaction)
        assert [client.reply()[:3] for _ in range(4)] == [b"250", b"250", b"250", b"354"]
        client.send(b"Two\r\n.\r\nQUIT\r\n")
        assert [client.reply() for _ in range(2)][1] == b"221 2.0.0 Bye\r\n"
        assert client.closed()
    assert [octets for _, octets in relay.service.accepted] == [b"One\r\n", b"Two\r\n"]
