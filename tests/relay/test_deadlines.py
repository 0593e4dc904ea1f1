"""Each deadline of a connection, to the second."""

import asyncio
from dataclasses import replace

import pytest

from tests.relay.peer import LIMITS, Peer
from tests.relay.running_relay import SENDER, TO
from tests.relay.test_connection import END, calls_ended
from tests.relay.tls_client import TlsClient

TIMED_OUT = b"421 4.4.2 "


async def test_proxy_header_that_does_not_come() -> None:
    peer = Peer(proxied=True)
    peer.wait(LIMITS.handshake)
    assert peer.open
    peer.wait(1)
    assert peer.transport.aborted


async def test_silent_client() -> None:
    """A client that does not log in gets 421 after 60 seconds, also if it sends commands."""
    peer = Peer()
    peer.wait(LIMITS.authentication - 1)
    peer.send(b"EHLO client.example\r\n")
    peer.wait(1)
    assert peer.open
    peer.wait(1)
    assert peer.answer().startswith(TIMED_OUT)
    assert peer.transport.half_closed


@pytest.mark.parametrize("octets", [0, 50])
async def test_handshake_that_does_not_end(octets: int) -> None:
    """After STARTTLS a client has 30 seconds, and no more if it sends a part of its handshake."""
    peer = Peer()
    peer.send(b"STARTTLS\r\n")
    peer.connection.data_received(TlsClient().handshake()[:octets])
    peer.wait(LIMITS.handshake)
    assert peer.open
    peer.wait(1)
    assert peer.transport.aborted


async def test_after_the_handshake() -> None:
    """Once TLS is established, the time for a command counts instead of that of the handshake."""
    peer = Peer(limits=replace(LIMITS, idle=40))
    peer.start_tls()
    peer.wait(40)
    assert peer.open
    peer.wait(1)
    assert peer.transport.half_closed


async def test_idle_client() -> None:
    """A client that has logged in gets 421 after 300 seconds without a whole command."""
    peer = Peer()
    await peer.log_in()
    peer.wait(LIMITS.idle)
    assert peer.open
    assert peer.send(b"NOOP\r\n").startswith(b"250 ")
    peer.wait(LIMITS.idle)
    peer.send(b"N")
    assert peer.open
    peer.wait(1)
    assert peer.transport.half_closed


async def test_long_session() -> None:
    """A session ends an hour after its start, even if the client sends commands."""
    peer = Peer()
    await peer.log_in()
    for _ in range(12):
        peer.wait(LIMITS.idle)
        assert peer.open
        peer.send(b"NOOP\r\n")
    peer.wait(1)
    assert peer.transport.half_closed


async def test_message_in_progress() -> None:
    """A message that arrives fast enough may take 600 seconds, also past the idle limit."""
    peer = Peer()
    await peer.begin_message()
    for _ in range(10):
        peer.send((b"x" * 98 + b"\r\n") * 400)
        peer.wait(60)
        assert peer.open
    peer.send((b"x" * 98 + b"\r\n") * 400)
    peer.wait(1)
    assert peer.transport.half_closed


@pytest.mark.parametrize(
    ("octets", "seconds"),
    [(0, 60), (256, 60.5), (512, 61), (5_120, 70), (15_360, 90), (51_200, 90)],
)
async def test_a_message_that_stalls(octets: int, seconds: float) -> None:
    """Each 512 octets buy a second beyond the first 60, but never more than 60 ahead."""
    peer = Peer()
    await peer.begin_message()
    peer.wait(30)
    if octets:
        peer.send(b"x" * octets)
    peer.answer()
    peer.wait(seconds - 30)
    assert peer.open
    peer.wait(0.25)
    assert peer.answer().startswith(b"421 4.4.2 The message arrived too slowly")
    assert peer.transport.half_closed
    assert peer.service.accepted == []


async def test_a_message_that_is_discarded_is_timed_too() -> None:
    """One that is refused already and only read to its end must arrive as fast."""
    peer = Peer(limits=replace(LIMITS, message_size=1_000))
    await peer.begin_message()
    peer.send(b"x" * 1_100)
    assert peer.context.budget.used == 0
    peer.answer()
    peer.wait(60)
    assert peer.open
    peer.wait(1)
    assert peer.answer().startswith(b"421 4.4.2 ")


async def test_the_end_of_a_session_within_a_message() -> None:
    peer = Peer(limits=replace(LIMITS, session=40))
    await peer.begin_message()
    peer.wait(41)
    peer.answer()
    assert peer.open
    answer = peer.send(END)
    await calls_ended()
    peer.wait(1)
    answer += peer.answer()
    assert [line[:9] for line in answer.splitlines()] == [b"250 2.0.0", b"421 4.4.2"]


async def test_a_second_message_has_its_own_time() -> None:
    peer = Peer()
    await peer.begin_message()
    peer.wait(50)
    peer.send(END)
    await calls_ended()
    peer.wait(200)
    for command in (f"MAIL FROM:<{SENDER}>", f"RCPT TO:<{TO}>", "DATA"):
        peer.send(f"{command}\r\n".encode())
        await asyncio.sleep(0)
    peer.wait(60)
    assert peer.open
    peer.wait(1)
    assert peer.transport.half_closed


async def test_last_reply_is_read() -> None:
    peer = Peer()
    peer.connection.drain()
    assert peer.answer().endswith(b"421 4.3.2 Shutting down; connect again\r\n")
    for _ in range(5):
        peer.wait(1)
        assert not peer.transport.aborted
    peer.wait(1)
    assert peer.transport.aborted
