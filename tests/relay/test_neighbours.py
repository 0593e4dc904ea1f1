"""Connections and logins: one address or account does not lock out those that share with it."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from pillarbox.application.sending.smtp import SmtpSubmission
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.key import Principal, digest_of_key
from relay import replies
from relay.admission import Admission, ConnectionLimiter
from relay.limits import ServerLimits
from relay.logins import LoginLimiter
from relay.replies import Reply
from relay.service import THREADS_OF_ACCOUNT, Envelope, ThreadedService
from relay.turns import Turns
from tests.fakes import builders
from tests.fakes.world import World
from tests.relay.running_relay import (
    KEY,
    MESSAGE,
    PATIENCE,
    SENDER,
    ManualClock,
    RecordingService,
    RunningRelay,
    plain,
    serve,
)
from tests.relay.test_batcher import run_pending_tasks

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
    """A full server replaces the oldest anonymous connection of any address, then refuses."""
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
    """An account can have a quarter of the connections, from however many addresses."""
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
    """A replaced connection is not counted again when its socket closes, and cannot log in."""
    door = Door(ServerLimits(connections=2))
    old = door.admitted("192.0.2.1")
    door.clock.now = 1
    door.admitted("192.0.2.1")
    door.admitted("192.0.2.1")
    assert old.ended
    assert not door.limiter.log_in(old, "account")
    door.limiter.release(old)
    assert door.limiter.count == 2


def test_networks_count_as_one_address() -> None:
    """An IPv6 network of 64 bits counts as one address, and a mapped IPv4 address as itself."""
    door = Door(ServerLimits(connections_of_address=1))
    door.admitted("2001:db8::1")
    assert door.enter("2001:db8::2") is replies.TOO_MANY_CONNECTIONS
    door.admitted("2001:db8:0:1::1")
    door.admitted("192.0.2.1")
    assert door.enter("::ffff:192.0.2.1") is replies.TOO_MANY_CONNECTIONS


# --- logins -------------------------------------------------------------------------------------


class Logins:
    """A limiter of logins over a service that knows some keys; delays end when a test says so."""

    def __init__(self) -> None:
        self.good = {builders.key_text(): builders.account() for _ in range(2)}
        self.reads: list[str] = []
        self.delays: list[asyncio.Future[None]] = []
        self.error = "invalid_api_key"
        limits = ServerLimits(logins_of_address=3)
        self.limiter = LoginLimiter(limits, self._authenticate, self._sleep)

    async def _authenticate(self, key_text: str) -> Principal:
        self.reads.append(key_text)
        if key_text not in self.good:
            raise ServiceError(self.error, "no")
        return Principal(builders.api_key(key_text), self.good[key_text])

    async def _sleep(self, _: float) -> None:
        self.delays.append(asyncio.get_running_loop().create_future())
        await self.delays[-1]

    def try_key(self, key_text: str, client: Admission) -> asyncio.Task[Principal]:
        return asyncio.create_task(self.limiter.authenticate(client, key_text))

    async def end_delays(self) -> None:
        """End the delays of those that wait now."""
        delays, self.delays = self.delays, []
        for delay in delays:
            delay.set_result(None)
        await run_pending_tasks()


def client(host: str = "192.0.2.1") -> Admission:
    return Admission(host, 0, lambda _: None)


def run(scenario: Callable[[Logins], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scenario(Logins()))


def test_forged_keys_take_turns() -> None:
    """An address reads three unknown keys at a time; one that does not work keeps its place."""

    async def scenario(logins: Logins) -> None:
        tries = [logins.try_key(builders.key_text(), client()) for _ in range(20)]
        await run_pending_tasks()
        assert len(logins.reads) == 3
        await logins.end_delays()
        assert len(logins.reads) == 6
        assert sum(each.done() for each in tries) == 3
        for _ in range(6):
            await logins.end_delays()
        assert [type(each.exception()) for each in tries] == [ServiceError] * 20
        assert len(logins.reads) == 20
        assert not logins.limiter._turns._in_use

    run(scenario)


def test_new_good_key_waits_for_its_turn_only() -> None:
    """Behind forged keys of its address a new good key is read in its turn and not delayed."""

    async def scenario(logins: Logins) -> None:
        good, *_ = logins.good
        forged = [logins.try_key(builders.key_text(), client()) for _ in range(7)]
        await run_pending_tasks()
        login = logins.try_key(good, client())
        elsewhere = await logins.try_key(good, client("192.0.2.2"))
        assert elsewhere.account == builders.account()
        await logins.end_delays()
        assert not login.done()
        await logins.end_delays()
        assert (await login).key == builders.api_key(good, key_id=(await login).key.key_id)
        await logins.end_delays()
        assert all(each.done() and each.exception() for each in forged)

    run(scenario)


def test_known_key_does_not_wait_and_is_read() -> None:
    """A key that has worked is read at once behind any number of forged ones."""

    async def scenario(logins: Logins) -> None:
        good, *_ = logins.good
        await logins.try_key(good, client())
        forged = [logins.try_key(builders.key_text(), client()) for _ in range(5)]
        await run_pending_tasks()
        assert (await logins.try_key(good, client())).account == builders.account()
        assert logins.reads.count(good) == 2
        while not all(each.done() for each in forged):
            await logins.end_delays()
        assert all(each.exception() for each in forged)

    run(scenario)


@pytest.mark.parametrize("error", sorted(replies.KEY_ERRORS))
def test_revoked_key_is_no_longer_known(error: str) -> None:
    """A key that has worked and is then refused waits for a turn like any unknown one."""

    async def scenario(logins: Logins) -> None:
        good, *_ = logins.good
        await logins.try_key(good, client())
        del logins.good[good]
        logins.error = error
        with pytest.raises(ServiceError):
            await logins.try_key(good, client())
        assert logins.delays == []
        again = logins.try_key(good, client())
        await run_pending_tasks()
        assert len(logins.delays) == 1
        await logins.end_delays()
        assert isinstance(again.exception(), ServiceError)

    run(scenario)


def test_clients_that_have_gone_cost_no_read() -> None:
    """A login whose client has disconnected gives its turn to the next without a read."""

    async def scenario(logins: Logins) -> None:
        first = [logins.try_key(builders.key_text(), client()) for _ in range(3)]
        gone = client()
        waiting = [logins.try_key(builders.key_text(), gone) for _ in range(10)]
        good, *_ = logins.good
        login = logins.try_key(good, client())
        await run_pending_tasks()
        gone.ended = True
        await logins.end_delays()
        assert (await login).account == builders.account()
        assert len(logins.reads) == 4
        assert all(each.exception() for each in first + waiting)

    run(scenario)


def test_malformed_keys_wait_for_nothing() -> None:
    """A malformed key costs no read of the store, so it takes no turn and is refused at once."""

    async def scenario(logins: Logins) -> None:
        for _ in range(10):
            with pytest.raises(ServiceError):
                await logins.try_key("bx_live_wrong", client())
        assert logins.delays == []

    run(scenario)


def test_failed_store_delays_nobody() -> None:
    """If keys cannot be read, the answer is not delayed."""

    async def scenario(logins: Logins) -> None:
        logins.error = "service_unavailable"
        with pytest.raises(ServiceError):
            await logins.try_key(builders.key_text(), client())
        assert logins.delays == []

    run(scenario)


def test_turns_are_taken_in_order() -> None:
    """A name has its number of places; the others wait in order, and other names do not wait."""

    async def scenario() -> None:
        turns, ends, begun = Turns(1), [asyncio.Event() for _ in range(3)], []

        async def take(name: str, number: int) -> None:
            async with turns.take(name):
                begun.append(number)
                await ends[number].wait()

        tasks = [asyncio.create_task(take(name, n)) for n, name in enumerate(("a", "a", "b"))]
        await run_pending_tasks()
        assert begun == [0, 2]
        ends[0].set()
        await run_pending_tasks()
        assert begun == [0, 2, 1]
        ends[1].set()
        ends[2].set()
        await asyncio.gather(*tasks)
        assert not turns._in_use

    asyncio.run(scenario())


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


def test_failed_logins_do_not_bar_an_address(relay: RunningRelay) -> None:
    """After a hundred failed logins a neighbour connects, logs in and sends."""
    for _ in range(34):
        with relay.connect_tls() as forger:
            for _ in range(3):
                reply = forger.command(f"AUTH PLAIN {plain(builders.key_text())}")
            assert reply.startswith(b"421 4.7.0 ")
            assert forger.closed()
    with relay.connect_authenticated() as neighbour:
        assert neighbour.deliver().startswith(b"250 ")


def test_connections_that_are_ending_do_not_count(relay: RunningRelay) -> None:
    """A connection that got its 421 does not count while it waits for its client to close."""
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            ending = stack.enter_context(relay.connect_plaintext())
            ending.send(b"\0\r\n")
            assert ending.reply().startswith(b"500 5.5.2 ")
        neighbour = stack.enter_context(relay.connect_authenticated())
        assert neighbour.deliver().startswith(b"250 ")


def test_idle_connections_do_not_lock_out_their_address(
    relay: RunningRelay, clock: ManualClock
) -> None:
    """The oldest of the connections that never log in gets 421 4.7.0 when a neighbour comes."""
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(relay.connect_plaintext()) for _ in range(3)]
        with relay.connect() as refused:
            assert refused.reply().startswith(b"421 4.7.0 ")
        clock.now = 1
        neighbour = stack.enter_context(relay.connect_authenticated())
        assert idle[0].reply().startswith(b"421 4.7.0 ")
        assert idle[0].closed()
        assert neighbour.deliver().startswith(b"250 ")
        assert idle[1].command("NOOP").startswith(b"250 ")


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


def test_slow_calls_of_an_account_leave_threads_to_others() -> None:
    """Fifty messages of an account with a slow DNS take a quarter of the threads, not all."""
    world = World()
    other = builders.key_text("acct00000002")
    world.store.keys[digest_of_key(other)] = builders.api_key(other, "acct00000002")
    world.set_account(builders.account("acct00000002"))
    answer, waiting = threading.Event(), threading.Semaphore(0)

    def watch(call: str) -> None:
        if call == "domains.look_up":
            waiting.release()
            assert answer.wait(PATIENCE)

    async def scenario() -> None:
        service = ThreadedService(lambda: SmtpSubmission(world.ports))
        envelope = Envelope(SENDER, ("ann@slow.example",))
        world.gate.watch = watch
        slow = [
            asyncio.create_task(service.submit(world.live, envelope, bytearray(MESSAGE)))
            for _ in range(50)
        ]
        for _ in range(THREADS_OF_ACCOUNT):
            assert await asyncio.to_thread(waiting.acquire, timeout=PATIENCE)
        world.gate.watch = lambda _: None
        assert await service.submit(other, envelope, bytearray(MESSAGE))
        assert not any(each.done() for each in slow)
        answer.set()
        assert len(set(await asyncio.gather(*slow))) == 50

    asyncio.run(scenario())
