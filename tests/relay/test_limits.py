"""Floods, slow clients, connections without end, and the shutdown; on real sockets."""

import contextlib
import itertools
import socket
import struct
import threading
from ipaddress import ip_network

import pytest

from tests.relay.served import KEY, MESSAGE, SENDER, Served, plain, serve

LOOPBACK = (ip_network("127.0.0.0/8"),)
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def proxied(address: str, command: int = 0x21) -> bytes:
    """A PROXY header, version 2, of a client at an IPv4 address."""
    packed = socket.inet_aton(address)
    addresses = packed + socket.inet_aton("127.0.0.1") + struct.pack("!HH", 40_000, 587)
    options = b"\x04\x00\x03abc"
    return SIGNATURE + bytes((command, 0x11)) + struct.pack("!H", 18) + addresses + options


@pytest.mark.parametrize("command", ["WHATEVER", "EXPN x", "MAIL FROM:x", "é"])
def test_errors_without_end(command: str) -> None:
    """A client that makes only errors gets 421 4.7.0."""
    with serve(errors=5) as served, served.ready() as client:
        for _ in range(5):
            assert client.say(command).startswith(b"5")
        assert client.say(command).startswith(b"421 4.7.0 ")
        assert client.closed()


@pytest.mark.parametrize("commands", [["NOOP"], ["RSET"], [f"MAIL FROM:<{SENDER}>", "RSET"]])
def test_commands_that_lead_nowhere(commands: list[str]) -> None:
    """A client that sends NOOP or RSET without end gets 421 4.7.0."""
    with serve(idle_commands=10) as served, served.ready() as client:
        replies = (client.say(command) for command in itertools.cycle(commands))
        taken = list(itertools.takewhile(lambda reply: reply.startswith(b"250"), replies))
        assert len(taken) == 10
        assert client.closed()


def test_messages_reset_the_counts() -> None:
    """A client that sends mail may use RSET between messages as long as it likes."""
    with serve(idle_commands=4) as served, served.ready() as client:
        for _ in range(5):
            assert client.say("RSET").startswith(b"250")
            assert client.deliver().startswith(b"250 ")


def test_replies_that_nobody_reads(served: Served) -> None:
    """A client that sends commands and reads no reply is not listened to, then sent away."""
    with served.ready() as client:
        client.sock.settimeout(1)
        with contextlib.suppress(OSError):
            for _ in range(2_000):
                client.send(b"NOOP\r\n" * 1_000)
    with served.ready() as client:
        assert client.say("NOOP").startswith(b"250 ")


def test_connections_of_an_address() -> None:
    """One connection too many of an address gets 421 4.7.0; when one goes, another may come."""
    with serve(connections_of_address=3) as served:
        with contextlib.ExitStack() as open_ones:
            for _ in range(3):
                open_ones.enter_context(served.greeted())
            with served.connect() as client:
                assert client.reply().startswith(b"421 4.7.0 ")
                assert client.closed()
        with served.greeted() as client:
            assert client.say("QUIT").startswith(b"221 ")


def test_connections_of_all() -> None:
    """When the server is full, 421 4.3.2."""
    with serve(connections=1) as served, served.greeted(), served.connect() as client:
        assert client.reply().startswith(b"421 4.3.2 ")


# The server looks at its clock each second, so these take about that long.


def test_idle_session() -> None:
    """A session in which nothing is said gets 421 4.4.2."""
    with serve(idle=0.2) as served, served.ready() as client:
        assert client.reply().startswith(b"421 4.4.2 ")
        assert client.closed()


def test_session_without_login() -> None:
    """A session that does not come to AUTH gets 421 4.4.2, whatever else it says."""
    with serve(authentication=0.2) as served, served.secured() as client:
        assert client.reply().startswith(b"421 4.4.2 ")


def test_session_without_end() -> None:
    """A session that goes on too long gets 421 4.4.2 between messages."""
    with serve(session=0.2) as served, served.ready() as client:
        assert client.reply().startswith(b"421 4.4.2 ")


def test_message_that_drips() -> None:
    """A message that comes too slowly gets 421 4.4.2; nothing is stored."""
    with serve(content=0.2) as served, served.ready() as client:
        client.envelope()
        client.send(b"a")
        assert client.reply().startswith(b"421 4.4.2 ")
    assert served.service.accepted == []


def test_command_that_drips() -> None:
    """Single octets do not keep a session alive: whole commands do."""
    with serve(idle=0.2) as served, served.ready() as client:
        stop = threading.Event()

        def drip() -> None:
            with contextlib.suppress(OSError):
                while not stop.wait(0.05):
                    client.send(b"N")

        dripping = threading.Thread(target=drip)
        dripping.start()
        reply = client.reply()
        stop.set()
        dripping.join()
        assert reply.startswith(b"421 4.4.2 ")


def test_handshake_that_stalls() -> None:
    """A handshake that is not finished is cut off."""
    with serve(handshake=0.2) as served, served.greeted() as client:
        client.say("STARTTLS")
        client.send(b"\x16\x03\x01")
        assert client.closed()


# --- shutdown -----------------------------------------------------------------------------------


def test_shutdown_sends_the_idle_away() -> None:
    """At a shutdown idle sessions get 421 4.3.2, and nobody new is let in."""
    with serve() as served, served.ready() as client:
        served.call(served.server.drain())
        assert client.reply().startswith(b"421 4.3.2 ")
        assert client.closed()
        with pytest.raises(ConnectionError):
            served.connect()


def test_shutdown_finishes_messages() -> None:
    """A message that is coming in, or being committed, is finished first: 250, then 421."""
    with serve(drain=10) as served, served.ready() as coming, served.ready() as committed:
        coming.envelope()
        coming.send(MESSAGE)
        served.service.gate.clear()
        committed.envelope()
        committed.send(MESSAGE + b".\r\n")
        assert served.service.entered.wait(10)
        draining = threading.Thread(target=served.call, args=(served.server.drain(),))
        draining.start()
        served.service.gate.set()
        assert committed.reply().startswith(b"250 ")
        assert committed.reply().startswith(b"421 4.3.2 ")
        committed.sock.close()
        coming.send(b".\r\n")
        assert coming.reply().startswith(b"250 ")
        assert coming.reply().startswith(b"421 4.3.2 ")
        coming.sock.close()
        draining.join(10)
    assert len(served.service.accepted) == 2


def test_client_that_goes_during_the_commit(served: Served) -> None:
    """A client that goes while its message is committed leaves it committed."""
    with served.ready() as client:
        served.service.gate.clear()
        client.envelope()
        client.send(MESSAGE + b".\r\n")
        assert served.service.entered.wait(10)
    served.service.gate.set()
    with served.ready() as client:
        assert client.deliver().startswith(b"250 ")
    assert len(served.service.accepted) == 2


# --- PROXY protocol -----------------------------------------------------------------------------


def test_proxy_tells_the_address() -> None:
    """Behind a load balancer the limits hold for the addresses that it tells."""
    with (
        serve(proxies=LOOPBACK, connections_of_address=1) as served,
        contextlib.ExitStack() as open_ones,
    ):
        for number in range(3):
            client = open_ones.enter_context(served.connect())
            client.send(proxied(f"192.0.2.{number}"))
            assert client.reply().startswith(b"220 ")
        with served.connect() as client:
            client.send(proxied("192.0.2.1"))
            assert client.reply().startswith(b"421 4.7.0 ")


def test_session_through_a_proxy() -> None:
    """A header in pieces, and what follows it in the same segment, are read right."""
    with serve(proxies=LOOPBACK) as served, served.connect() as client:
        for octet in proxied("192.0.2.1"):
            client.send(bytes((octet,)))
        assert client.reply().startswith(b"220 ")
        client.start_tls()
        client.say("EHLO client.example")
        assert client.say(f"AUTH PLAIN {plain(KEY)}").startswith(b"235 ")
        assert client.deliver().startswith(b"250 ")


@pytest.mark.parametrize(
    "octets",
    [
        b"EHLO client.example\r\n",
        b"PROXY TCP4 192.0.2.1 127.0.0.1 40000 587\r\n",
        SIGNATURE + b"\x31\x11\x00\x0c" + bytes(12),
        SIGNATURE + b"\x21\x31\x00\x0c" + bytes(12),
        SIGNATURE + b"\x21\x11\x00\x02" + bytes(2),
        SIGNATURE + b"\x21\x11\xff\xff",
    ],
)
def test_proxy_that_does_not_tell(octets: bytes) -> None:
    """What comes from a load balancer's address without a good header is cut off."""
    with serve(proxies=LOOPBACK) as served, served.connect() as client:
        client.send(octets)
        assert client.closed()


def test_check_of_the_load_balancer() -> None:
    """The load balancer's own connection (LOCAL) is closed without a word."""
    with serve(proxies=LOOPBACK) as served, served.connect() as client:
        client.send(proxied("0.0.0.0", 0x20))  # noqa: S104  no address is told
        assert client.closed()


def test_proxy_header_from_others() -> None:
    """A PROXY header from any other address is no command: nobody gives itself an address."""
    with serve() as served, served.greeted() as client:
        client.send(proxied("192.0.2.1"))
        replies = list(iter(client.reply, b""))
        assert [reply[:9] for reply in replies] == [b"500 5.5.1", b"500 5.5.1", b"500 5.5.2"]
