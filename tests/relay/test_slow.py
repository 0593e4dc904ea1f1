"""A client that does not read, on a real socket: the server checks deadlines once a second."""

import contextlib
import socket
import ssl
import time

import pytest

from tests.relay.running_relay import PATIENCE, Client, RunningRelay, serve

#: The size of socket buffers in octets. The default megabytes would take long to fill.
SMALL_BUFFER = 16_384


def connect_with_small_buffers(relay: RunningRelay) -> Client:
    """Connect with small socket buffers, so that unread replies soon fill them."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL_BUFFER)
    sock.settimeout(PATIENCE)
    sock.connect(("127.0.0.1", relay.port))
    return Client(sock)


def is_cut_off(client: Client) -> bool:
    """Return whether the server cuts off a client that only sends."""
    deadline = time.monotonic() + 3 * PATIENCE
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        while time.monotonic() < deadline:
            client.send(b"NOOP\r\n" * 1_000)
        return False
    return True


def test_client_that_never_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay.connection._LINGER", 0.2)
    with (
        serve(idle_commands=10**9, idle=0.2, buffers=SMALL_BUFFER) as relay,
        connect_with_small_buffers(relay) as client,
    ):
        assert client.reply().startswith(b"220 ")
        client.start_tls()
        assert is_cut_off(client)
