"""Clients that say nothing, say it slowly, or do not listen; on real sockets.

The server looks at its clock each second, so each of these takes about that long.
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

#: Octets that the system holds for a connection, where megabytes would take long to fill.
SMALL = 16_384
OK = b"250 2.0.0 Ok\r\n"


@contextlib.contextmanager
def dripping(client: Client, octets: bytes) -> Iterator[None]:
    """Send octets, one at a time, for the time of a block."""
    stop = threading.Event()

    def drip() -> None:
        with contextlib.suppress(OSError):
            for octet in octets * 1_000:
                if stop.wait(0.05):
                    return
                client.send(bytes((octet,)))

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_idle_session() -> None:
    """A session in which nothing is said gets 421 4.4.2."""
    with serve(idle=0.2) as relay, relay.connect_authenticated() as client:
        assert client.reply().startswith(b"421 4.4.2 ")
        assert client.closed()


@pytest.mark.parametrize("limit", ["authentication", "session"])
def test_session_that_leads_nowhere(limit: str) -> None:
    """A session that does not come to AUTH, or lasts too long, gets 421 4.4.2, whatever it says."""
    soon: dict[str, Any] = {limit: 0.2}
    with (
        serve(idle_commands=10**9, **soon) as relay,
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
    """A message that was begun in time is taken to its end, and the session ended after it."""
    with serve(session=0.2) as relay, relay.connect_authenticated() as client:
        client.envelope()
        with relay.connect_plaintext() as other, dripping(other, b"NOOP\r\n"):
            assert [other.reply()[:4] for _ in range(6)] == [b"250 "] * 6
        client.send(b".\r\n")
        assert client.reply().startswith(b"250 ")
        assert client.reply().startswith(b"421 4.4.2 ")


def test_message_that_drips() -> None:
    """A message that comes too slowly gets 421 4.4.2; nothing is stored."""
    with serve(content=0.2) as relay, relay.connect_authenticated() as client:
        client.envelope()
        with dripping(client, b"a\r\n"):
            assert client.reply().startswith(b"421 4.4.2 ")
    assert relay.service.accepted == []


def test_command_that_drips() -> None:
    """Single octets do not keep a session alive: whole commands do."""
    with serve(idle=0.2) as relay, relay.connect_authenticated() as client, dripping(client, b"N"):
        assert client.reply().startswith(b"421 4.4.2 ")


@pytest.mark.parametrize("more", [b"", b"\x00"])
def test_handshake_that_stalls(more: bytes) -> None:
    """A handshake that is not finished is cut off, also when it comes octet by octet."""
    with serve(handshake=0.2) as relay, relay.connect_plaintext() as client:
        client.command("STARTTLS")
        client.send(b"\x16\x03\x01\x40\x00")
        with dripping(client, more):
            assert client.closed()


def test_handshake_has_thirty_seconds() -> None:
    """Without a setting it is cut off after 30 seconds, and idle sessions after five minutes."""
    limits = ServerLimits()
    assert (limits.handshake, limits.authentication, limits.idle) == (30, 60, 300)
    assert (limits.content, limits.session) == (600, 3_600)


def deaf(relay: RunningRelay) -> Client:
    """A connection of a client that has hardly any room for replies."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL)
    sock.settimeout(PATIENCE)
    sock.connect(("127.0.0.1", relay.port))
    return Client(sock)


def test_replies_that_nobody_reads() -> None:
    """A client that reads no replies is listened to no more, until it has read them."""
    noops, most = b"NOOP\r\n" * 10_000, 10 * 2**20
    with serve(idle_commands=10**9, buffers=SMALL) as relay, deaf(relay) as client:
        assert client.reply().startswith(b"220 ")
        sent = 0
        client.sock.settimeout(1)
        with contextlib.suppress(TimeoutError):
            while sent < most:
                sent += client.sock.send(noops[sent % 6 :])
        assert sent < most
        client.sock.settimeout(PATIENCE)
        waiting = bytearray()
        while len(waiting) < len(OK) * (sent // 6):
            octets = client.sock.recv(65_536)
            assert octets
            waiting += octets
        assert waiting == OK * (sent // 6)
        client.send(b"NOOP\r\n"[sent % 6 :])
        assert client.reply() == OK


def cut_off(client: Client) -> bool:
    """Whether a client that only sends is, after a while, not let send any more."""
    late = time.monotonic() + 3 * PATIENCE
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        while time.monotonic() < late:
            client.send(b"NOOP\r\n" * 1_000)
        return False
    return True


@pytest.mark.parametrize("secure", [False, True])
def test_client_that_never_reads(monkeypatch: pytest.MonkeyPatch, *, secure: bool) -> None:
    """A client that goes on without reading is cut off, however much waits for it."""
    monkeypatch.setattr("relay.connection._LINGER", 0.2)
    with serve(idle_commands=10**9, idle=0.2, buffers=SMALL) as relay, deaf(relay) as client:
        assert client.reply().startswith(b"220 ")
        if secure:
            client.start_tls()
        assert cut_off(client)
