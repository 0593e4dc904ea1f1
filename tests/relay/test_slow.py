"""Clients that send nothing, send slowly, or do not read, on real sockets.

The server checks its deadlines once a second, so each of these tests takes about that long.
"""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from relay.limits import ServerLimits
from tests.relay.running_relay import PATIENCE, Client, RunningRelay, serve

#: The size of socket buffers in octets. The default megabytes would take long to fill.
SMALL_BUFFER = 16_384
OK = b"250 2.0.0 Ok\r\n"


@contextlib.contextmanager
def sending_slowly(client: Client, octets: bytes) -> Iterator[None]:
    """Send octets slowly, one at a time, during a block."""
    stop = threading.Event()

    def send_slowly() -> None:
        with contextlib.suppress(OSError):
            for octet in octets * 1_000:
                if stop.wait(0.05):
                    return
                client.send(bytes((octet,)))

    thread = threading.Thread(target=send_slowly)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_idle_session() -> None:
    """An idle session gets 421 4.4.2."""
    with serve(idle=0.2) as relay, relay.connect_authenticated() as client:
        assert client.reply().startswith(b"421 4.4.2 ")
        assert client.closed()


@pytest.mark.parametrize("limit", ["authentication", "session"])
def test_session_over_its_time_limit(limit: str) -> None:
    """A session without AUTH, or one that lasts too long, gets 421 4.4.2 despite its commands."""
    time_limit: dict[str, Any] = {limit: 0.2}
    with (
        serve(idle_commands=10**9, **time_limit) as relay,
        relay.connect_tls()
        if limit == "authentication"
        else relay.connect_authenticated() as client,
    ):
        reply = b"250"
        while reply.startswith(b"250"):
            reply = client.command("NOOP")
        assert reply.startswith(b"421 4.4.2 ")
        assert client.closed()


def test_session_is_not_ended_within_a_message() -> None:
    """A message in progress is accepted before the session ends at its time limit."""
    with serve(session=0.2) as relay, relay.connect_authenticated() as client:
        client.envelope()
        with relay.connect_plaintext() as other, sending_slowly(other, b"NOOP\r\n"):
            assert [other.reply()[:4] for _ in range(6)] == [b"250 "] * 6
        client.send(b".\r\n")
        assert client.reply().startswith(b"250 ")
        assert client.reply().startswith(b"421 4.4.2 ")


def test_slow_message() -> None:
    """A message that arrives too slowly gets 421 4.4.2 and is not accepted."""
    with serve(content=0.2) as relay, relay.connect_authenticated() as client:
        client.envelope()
        with sending_slowly(client, b"a\r\n"):
            assert client.reply().startswith(b"421 4.4.2 ")
    assert relay.service.accepted == []


def test_slow_command() -> None:
    """Single octets do not keep a session alive; only whole commands do."""
    with (
        serve(idle=0.2) as relay,
        relay.connect_authenticated() as client,
        sending_slowly(client, b"N"),
    ):
        assert client.reply().startswith(b"421 4.4.2 ")


@pytest.mark.parametrize("more", [b"", b"\x00"])
def test_stalled_handshake(more: bytes) -> None:
    """An unfinished handshake is cut off, also if it arrives octet by octet."""
    with serve(handshake=0.2) as relay, relay.connect_plaintext() as client:
        client.command("STARTTLS")
        client.send(b"\x16\x03\x01\x40\x00")
        with sending_slowly(client, more):
            assert client.closed()


def test_default_time_limits() -> None:
    """By default a handshake may take 30 seconds, and a session may be idle for five minutes."""
    limits = ServerLimits()
    assert (limits.handshake, limits.authentication, limits.idle) == (30, 60, 300)
    assert (limits.content, limits.session) == (600, 3_600)


def connect_with_small_buffers(relay: RunningRelay) -> Client:
    """Connect with small socket buffers, so that unread replies soon fill them."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL_BUFFER)
    sock.settimeout(PATIENCE)
    sock.connect(("127.0.0.1", relay.port))
    return Client(sock)


def test_unread_replies_pause_the_session() -> None:
    """The server stops reading from a client that does not read its replies, until it does."""
    noops, limit = b"NOOP\r\n" * 10_000, 10 * 2**20
    with (
        serve(idle_commands=10**9, buffers=SMALL_BUFFER) as relay,
        connect_with_small_buffers(relay) as client,
    ):
        assert client.reply().startswith(b"220 ")
        sent = 0
        client.sock.settimeout(1)
        with contextlib.suppress(TimeoutError):
            while sent < limit:
                sent += client.sock.send(noops[sent % 6 :])
        assert sent < limit
        client.sock.settimeout(PATIENCE)
        received = bytearray()
        while len(received) < len(OK) * (sent // 6):
            octets = client.sock.recv(65_536)
            assert octets
            received += octets
        assert received == OK * (sent // 6)
        client.send(b"NOOP\r\n"[sent % 6 :])
        assert client.reply() == OK


def is_cut_off(client: Client) -> bool:
    """Return whether the server cuts off a client that only sends."""
    deadline = time.monotonic() + 3 * PATIENCE
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        while time.monotonic() < deadline:
            client.send(b"NOOP\r\n" * 1_000)
        return False
    return True


@pytest.mark.parametrize("secure", [False, True])
def test_client_that_never_reads(monkeypatch: pytest.MonkeyPatch, *, secure: bool) -> None:
    """A client that sends without ever reading is cut off."""
    monkeypatch.setattr("relay.connection._LINGER", 0.2)
    with (
        serve(idle_commands=10**9, idle=0.2, buffers=SMALL_BUFFER) as relay,
        connect_with_small_buffers(relay) as client,
    ):
        assert client.reply().startswith(b"220 ")
        if secure:
            client.start_tls()
        assert is_cut_off(client)
