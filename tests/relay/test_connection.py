"""How a connection begins, waits and ends, without sockets."""

import asyncio
from dataclasses import replace

import pytest

from pillarbox.domain.errors import ServiceError
from tests.fakes import builders
from tests.relay.peer import LIMITS, Peer
from tests.relay.running_relay import KEY, MESSAGE
from tests.relay.test_proxy import SIGNATURE, proxy_header

#: A check of the load balancer: the command LOCAL without addresses.
LOCAL = SIGNATURE + b"\x20\x00\x00\x00"
END = MESSAGE + b".\r\n"


async def calls_ended() -> None:
    """Wait until no call of the service runs."""
    current = asyncio.current_task()
    await asyncio.gather(*(task for task in asyncio.all_tasks() if task is not current))
    await asyncio.sleep(0)


async def test_input_behind_the_proxy_header() -> None:
    peer = Peer(proxied=True)
    lines = peer.send(proxy_header("192.0.2.1") + b"NOOP\r\n").splitlines()
    assert [line[:3] for line in lines] == [b"220", b"250"]


async def test_check_of_a_load_balancer() -> None:
    peer = Peer(proxied=True)
    assert peer.send(LOCAL) == b""
    assert peer.transport.closed
    assert peer.send(b"NOOP\r\n") == b""


async def test_an_unexpected_end_lets_the_client_read_the_reply() -> None:
    peer = Peer()
    peer.connection.drain()
    assert peer.transport.half_closed
    assert not peer.transport.closed


async def test_a_client_that_is_gone() -> None:
    peer = Peer()
    peer.transport.fault = OSError()
    peer.connection.drain()
    assert peer.transport.aborted


async def test_the_end_of_tls_is_announced() -> None:
    peer = Peer()
    peer.start_tls()
    peer.connection.drain()
    assert peer.answer().startswith(b"421 4.3.2 ")
    assert peer.tls_ended


async def test_unread_replies_stop_the_session() -> None:
    peer = Peer()
    peer.answer()
    peer.connection.pause_writing()
    assert not peer.transport.reading
    assert peer.send(b"NOOP\r\nNOOP\r\n") == b""
    peer.connection.resume_writing()
    assert peer.transport.reading
    assert peer.answer().count(b"250 ") == 2


async def test_a_lost_connection_frees_its_place() -> None:
    peer = Peer()
    peer.answer()
    assert peer.connections == {peer.connection}
    assert peer.context.connections.count == 1
    peer.connection.connection_lost(None)
    assert peer.connections == set()
    assert peer.context.connections.count == 0
    assert peer.send(b"NOOP\r\n") == b""


async def test_a_call_outlives_its_connection() -> None:
    """A message whose client disconnects is accepted, and then the connection is forgotten."""
    peer = Peer()
    await peer.begin_message()
    peer.service.gate.clear()
    peer.send(END)
    peer.connection.connection_lost(None)
    assert peer.connections == {peer.connection}
    peer.service.gate.set()
    await calls_ended()
    assert len(peer.service.accepted) == 1
    assert peer.connections == set()


async def test_a_message_far_over_the_limit_ends_the_session() -> None:
    peer = Peer(limits=replace(LIMITS, message_size=1_000))
    await peer.begin_message()
    peer.answer()
    assert peer.send(b"x" * 3_000).startswith(b"552 ")
    assert peer.transport.half_closed


async def test_the_end_of_a_session_frees_the_memory_of_its_message() -> None:
    peer = Peer()
    await peer.begin_message()
    peer.send(b"x" * 1_000 + b"\r\n")
    memory = peer.context.budget
    assert memory.used > 1_000
    peer.send(b"a\nb\r\n")
    assert peer.transport.half_closed
    assert memory.used == 0


@pytest.mark.parametrize(
    ("fault", "first"),
    [(None, b"250"), (ServiceError("recipient_suppressed", "no"), b"550")],
    ids=["accepted", "refused"],
)
async def test_a_drain_waits_for_a_message(fault: Exception | None, first: bytes) -> None:
    peer = Peer()
    await peer.begin_message()
    peer.service.fault = fault
    peer.answer()
    peer.connection.drain()
    assert peer.open
    answer = peer.send(END)
    await calls_ended()
    answer += peer.answer()
    assert [line[:3] for line in answer.splitlines()] == [first, b"421"]
    assert peer.transport.half_closed


async def test_an_unexpected_error_is_a_451() -> None:
    peer = Peer()
    await peer.begin_message()
    peer.answer()
    peer.service.fault = TypeError("planted")
    answer = peer.send(END + b"NOOP\r\n")
    await calls_ended()
    answer += peer.answer()
    assert [line[:3] for line in answer.splitlines()] == [b"451", b"250"]


async def test_what_waits_for_a_call_is_answered_after_it() -> None:
    peer = Peer()
    await peer.begin_message()
    peer.answer()
    peer.service.gate.clear()
    assert peer.send(END + b"NOOP\r\n") == b""
    assert not peer.transport.reading
    peer.service.gate.set()
    await calls_ended()
    assert [line[:3] for line in peer.answer().splitlines()] == [b"250", b"250"]
    assert peer.transport.reading


async def test_the_key_is_in_no_representation() -> None:
    peer = Peer()
    await peer.log_in()
    assert KEY not in repr(vars(peer.connection._session))


async def test_a_slow_message_makes_room() -> None:
    """When its account's share is used up, it ends with 421 4.3.2, and a faster one has room."""
    peer = Peer()
    await peer.begin_message()
    peer.send(b"x" * 1_000 + b"\r\n")
    peer.answer()
    peer.clock.now += 11
    faster = peer.context.budget.begin(builders.ACCOUNT, "192.0.2.9", lambda: None)
    assert faster.reserve(64 * 2**20)
    assert peer.answer().startswith(b"421 4.3.2 ")
    assert peer.transport.half_closed
