"""Messages after DATA: where they end, what they may contain and how large they may be."""

from itertools import product

import pytest

from tests.loops import for_each
from tests.relay.running_relay import MESSAGE, SENDER, TO, Client, RunningRelay, serve

#: Octets that some servers wrongly accept as the end of a message.
SMUGGLING = {
    "LF.LF": b"\n.\n",
    "LF.CRLF": b"\n.\r\n",
    "CRLF.LF": b"\r\n.\n",
    "CR.CR": b"\r.\r",
    "CR.CRLF": b"\r.\r\n",
    "CRLF.CR": b"\r\n.\r",
    "CR.LF": b"\r.\n",
    "LF.CR": b"\n.\r",
    "CRLFNUL.CRLF": b"\r\n\0.\r\n",
    "CRLF.NULCRLF": b"\r\n.\0\r\n",
    "LFLF.CRLF": b"\n\n.\r\n",
    "CRLFCR.CRLF": b"\r\n\r.\r\n",
    "CRCRLF.CRCRLF": b"\r\r\n.\r\r\n",
    ".LF": b".\n",
    ".CR": b".\rx",
    ".CRCRLF": b".\r\r\n",
    ".NULCRLF": b".\0\r\n",
    "LF": b"\n",
    "CR": b"\rx",
    "NUL": b"\0",
}
INJECTED = f"MAIL FROM:<{SENDER}>\r\nRCPT TO:<victim@example.com>\r\nDATA\r\n".encode()


@for_each("name, before", product(SMUGGLING, [b"Subject: one\r\n\r\none", b""]))
def test_smuggling(relay: RunningRelay, name: str, before: bytes) -> None:
    """Any bare CR, LF or NUL gets 550 5.5.2 and ends the connection; no message is accepted."""
    with relay.connect_authenticated() as client:
        client.envelope()
        client.send(before + SMUGGLING[name] + INJECTED + b"two\r\n.\r\n")
        assert client.reply().startswith(b"550 5.5.2 ")
        assert client.closed()
    assert relay.service.accepted == []


def test_bare_controls_after_a_message(relay: RunningRelay) -> None:
    with relay.connect_authenticated() as client:
        client.envelope()
        client.send(MESSAGE + b".\r\n\n.\r\n" + INJECTED)
        assert client.reply().startswith(b"250 2.0.0 ")
        assert client.reply().startswith(b"500 5.5.2 ")
        assert client.closed()
    assert len(relay.service.accepted) == 1


def test_a_line_that_is_too_long_refuses_the_message_only(client: Client) -> None:
    """A line of 999 octets is one too long (RFC 5321, 4.5.3.1.6)."""
    assert client.deliver(b"x" * 999 + b"\r\n").startswith(b"500 5.5.2 ")
    assert client.deliver().startswith(b"250 ")


@pytest.mark.parametrize("refused", ["<bad@@shop.example>", "<a@localhost>", "<\xe9@shop.example>"])
def test_no_recipient_is_left_out(client: Client, refused: str) -> None:
    client.command(f"MAIL FROM:<{SENDER}>")
    client.command(f"RCPT TO:<{TO}>")
    assert client.command(f"RCPT TO:{refused}")[:4] in {b"501 ", b"553 "}
    named, rest = client.command("DATA").split(b"\r\n", 1)
    assert refused[1:4].encode() in named or b"\\x{E9}" in named
    assert rest.endswith(b"A recipient was refused, so nothing is sent\r\n")
    assert client.deliver().startswith(b"250 ")


def test_the_room_for_an_announced_message() -> None:
    with serve(message_size=2_000, memory=3_000) as relay, relay.connect_authenticated() as client:
        assert client.command(f"MAIL FROM:<{SENDER}> SIZE=1501").startswith(b"452 4.3.1 ")
        assert client.command(f"MAIL FROM:<{SENDER}> SIZE=1500").startswith(b"250 ")


def test_wrong_announced_size() -> None:
    with serve(message_size=10_000) as relay, relay.connect_authenticated() as client:
        for octets, reply in (
            ((b"x" * 98 + b"\r\n") * 100, b"250 "),
            ((b"x" * 98 + b"\r\n") * 99 + b"x" * 99 + b"\r\n", b"552 5.3.4 "),
        ):
            assert client.command(f"MAIL FROM:<{SENDER}> SIZE=1").startswith(b"250 ")
            assert client.command(f"RCPT TO:<{TO}>").startswith(b"250 ")
            client.command("DATA")
            client.send(octets + b".\r\n")
            assert client.reply().startswith(reply)


def test_memory_ceiling() -> None:
    """A message over the memory ceiling gets 452 4.3.1 until memory is free."""
    with (
        serve(memory=100_000, clock=lambda: 0.0) as relay,
        relay.connect_authenticated() as first,
        relay.connect_authenticated() as second,
    ):
        assert first.command(f"MAIL FROM:<{SENDER}> SIZE=60000").startswith(b"452 4.3.1 ")
        first.envelope()
        first.send((b"x" * 98 + b"\r\n") * 400)
        second.envelope()
        second.send((b"x" * 98 + b"\r\n") * 400 + b".\r\n")
        assert second.reply().startswith(b"452 4.3.1 ")
        first.send(b".\r\n")
        assert first.reply().startswith(b"250 ")
        assert second.deliver().startswith(b"250 ")


def test_disconnect_within_a_message(relay: RunningRelay) -> None:
    with relay.connect_authenticated() as client:
        client.envelope()
        client.send(MESSAGE)
    with relay.connect_authenticated() as client:
        assert client.command("NOOP").startswith(b"250 ")
    assert relay.service.accepted == []
