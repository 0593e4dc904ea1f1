"""Connections: one address or account does not lock out those that share with it."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from pillarbox.domain.accounts.key_policy import Principal
from relay import replies
from relay.admission import Admission, ConnectionLimiter
from relay.limits import ServerLimits
from relay.replies import Reply
from tests.fakes import builders
from tests.relay.running_relay import (
    KEY,
    ManualClock,
    RecordingService,
    RunningRelay,
    plain,
    serve,
)

OTHER_ADDRESS = "127.0.0.2"


@dataclass
class Door:
    """A limiter of connections, and the replies with which it ended connections."""

    limits: ServerLimits
    clock: ManualClock = field(default_factory=ManualClock)
    ended: list[tuple[str, Reply]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.limiter = ConnectionLimiter(self.limits, self.clock)

    def enter(self, address: str) -> Admission | Reply:
        return self.limiter.admit(address, lambda reply: self.ended.append((address, reply)))

    def admitted(self, address: str) -> Admission:
        admission = self.enter(address)
        assert isinstance(admission, Admission)
        return admission

    def logged_in(self, address: str, account_id: str) -> Admission:
        admission = self.admitted(address)
        assert self.limiter.log_in(admission, account_id)
        return admission


def test_connections_that_logged_in_do_not_count_for_their_address() -> None:
    """An address may have 50 connections that have not logged in besides those that have."""
    door = Door(ServerLimits(connections=400))
    for number in range(100):
        door.logged_in("192.0.2.1", f"account {number % 2}")
    for _ in range(50):
        door.admitted("192.0.2.1")
    assert door.enter("192.0.2.1") is replies.TOO_MANY_CONNECTIONS


def test_old_anonymous_connection_makes_room() -> None:
    """A second later the oldest connection that has not logged in is replaced, with 421."""
    door = Door(ServerLimits(connections_of_address=2))
    door.admitted("192.0.2.1")
    door.logged_in("192.0.2.1", "account")
    door.admitted("192.0.2.9")
    door.clock.now = 0.5
    door.admitted("192.0.2.1")
    door.clock.now = 0.9
    assert door.enter("192.0.2.1") is replies.TOO_MANY_CONNECTIONS
    assert door.ended == []
    door.clock.now = 1
    door.admitted("192.0.2.1")
    assert door.ended == [("192.0.2.1", replies.TOO_MANY_CONNECTIONS)]
    assert door.enter("192.0.2.1") is replies.TOO_MANY_CONNECTIONS


def test_full_server_replaces_anonymous_connections_only() -> None:
    door = Door(ServerLimits(connections=4))
    door.logged_in("192.0.2.1", "account")
    door.admitted("192.0.2.2")
    door.logged_in("192.0.2.3", "another")
    door.logged_in("192.0.2.4", "a third")
    assert door.enter("192.0.2.5") is replies.SERVER_FULL
    door.clock.now = 1
    door.limiter.log_in(door.admitted("192.0.2.5"), "a fourth")
    assert door.ended == [("192.0.2.2", replies.SERVER_FULL)]
    assert door.enter("192.0.2.6") is replies.SERVER_FULL
    assert door.limiter.count == 4


def test_connections_of_an_account() -> None:
    door = Door(ServerLimits(connections=8))
    first = door.logged_in("192.0.2.1", "account")
    door.logged_in("192.0.2.2", "account")
    third = door.admitted("192.0.2.3")
    assert not door.limiter.log_in(third, "account")
    assert door.limiter.log_in(third, "another")
    door.limiter.release(first)
    assert door.limiter.log_in(door.admitted("192.0.2.4"), "account")


def test_all_connections_of_an_address() -> None:
    """An address can have half of the connections, so that several keys there leave the rest."""
    door = Door(ServerLimits(connections=8, connections_of_address=2))
    for number in range(4):
        door.logged_in("192.0.2.1", f"account {number}")
    assert door.enter("192.0.2.1") is replies.TOO_MANY_CONNECTIONS
    door.admitted("192.0.2.2")


def test_connection_is_released_once() -> None:
    door = Door(ServerLimits(connections=2))
    old = door.admitted("192.0.2.1")
    door.clock.now = 1
    door.admitted("192.0.2.1")
    door.admitted("192.0.2.1")
    assert old.ended
    assert not door.limiter.log_in(old, "account")
    door.limiter.release(old)
    assert door.limiter.count == 2


def test_nothing_is_counted_for_those_that_have_left() -> None:
    door = Door(ServerLimits(connections=8, connections_of_address=2))
    kept = [door.logged_in("192.0.2.1", "account"), door.admitted("192.0.2.1")]
    ended = [door.logged_in("192.0.2.1", "account"), door.admitted("192.0.2.1")]
    for admission in ended:
        door.limiter.release(admission)
    door.admitted("192.0.2.1")
    assert door.enter("192.0.2.1") is replies.TOO_MANY_CONNECTIONS
    third = door.logged_in("192.0.2.2", "account")
    assert not door.limiter.log_in(kept[1], "account")
    for admission in [*kept, third, *door.limiter._anonymous]:
        door.limiter.release(admission)
    counts = [value for name, value in vars(door.limiter).items() if name.startswith("_of_")]
    assert counts == [{}, {}]
    assert (door.limiter.count, door.limiter._anonymous, door.limiter._anonymous_of) == (0, {}, {})


def test_networks_count_as_one_address() -> None:
    """An IPv6 network of 64 bits counts as one address, and a mapped IPv4 address as itself."""
    door = Door(ServerLimits(connections_of_address=1))
    door.admitted("2001:db8::1")
    for neighbour in ("2001:db8::2", "2001:db8::8000:0:0:1", "2001:db8::ffff:ffff:ffff:ffff"):
        assert door.enter(neighbour) is replies.TOO_MANY_CONNECTIONS
    assert door.admitted("2001:db8:0:1::1").host == "2001:db8:0:1::/64"
    door.admitted("192.0.2.1")
    assert door.enter("::ffff:192.0.2.1") is replies.TOO_MANY_CONNECTIONS


# --- on sockets ---------------------------------------------------------------------------------


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def relay(clock: ManualClock) -> Iterator[RunningRelay]:
    """Run a server with few connections whose time stands still."""
    other = builders.key_text("acct00000002")
    service = RecordingService(
        others={
            other: Principal(
                builders.api_key(other, "acct00000002"), builders.account("acct00000002")
            )
        }
    )
    with serve(service=service, clock=clock, connections=12, connections_of_address=3) as running:
        yield running


def other_key(relay: RunningRelay) -> str:
    return next(iter(relay.service.others))


def test_connections_that_are_ending_do_not_count(relay: RunningRelay) -> None:
    """A connection that got its 421 does not count while it waits for its client to close."""
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            ending = stack.enter_context(relay.connect_plaintext())
            ending.send(b"\0\r\n")
            assert ending.reply().startswith(b"500 5.5.2 ")
        neighbour = stack.enter_context(relay.connect_authenticated())
        assert neighbour.deliver().startswith(b"250 ")


def test_connection_in_its_handshake_is_replaced(relay: RunningRelay, clock: ManualClock) -> None:
    """A connection whose TLS handshake has not ended is cut off to make room."""
    with contextlib.ExitStack() as stack:
        stalled = [stack.enter_context(relay.connect_plaintext()) for _ in range(3)]
        for each in stalled:
            assert each.command("STARTTLS").startswith(b"220 ")
            each.send(b"\x16\x03\x01\x40\x00")
        clock.now = 1
        neighbour = stack.enter_context(relay.connect_authenticated())
        assert neighbour.deliver().startswith(b"250 ")
        assert stalled[0].closed()


def test_key_with_many_addresses(relay: RunningRelay) -> None:
    """The fourth of twelve possible connections of an account gets 421 4.7.0; others log in."""
    with contextlib.ExitStack() as stack:
        for number in range(3):
            stack.enter_context(relay.connect_authenticated(f"127.0.0.{10 + number}"))
        with relay.connect_tls("127.0.0.20") as fourth:
            reply = fourth.command(f"AUTH PLAIN {plain(KEY)}")
            assert reply.startswith(b"421 4.7.0 ")
            assert b"account" in reply
            assert fourth.closed()
        other = stack.enter_context(relay.connect_authenticated(OTHER_ADDRESS, other_key(relay)))
        assert other.deliver().startswith(b"250 ")
