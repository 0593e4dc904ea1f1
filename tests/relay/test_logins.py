"""Places: how fast an address can try keys, and how many calls an account has at a time."""

import asyncio
import threading

import pytest

from pillarbox.domain.accounts.key import digest_of_key
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError
from relay import replies
from relay.admission import Admission
from relay.limits import ServerLimits
from relay.logins import LoginLimiter
from relay.places import PlacesByName
from relay.service import ThreadedService
from tests.fakes import builders
from tests.fakes.world import World
from tests.relay.running_relay import MESSAGE, PATIENCE
from tests.relay.test_batcher import run_pending_tasks

ORIGIN = ClientOrigin("192.0.2.1")


class Logins:
    """A limiter of logins over a service that knows some keys; delays end when a test says so."""

    def __init__(self) -> None:
        self.good = {builders.key_text(): builders.account() for _ in range(2)}
        self.reads: list[str] = []
        self.delays: list[asyncio.Future[None]] = []
        self.error = "invalid_api_key"
        limits = ServerLimits(logins_of_address=3)
        self.limiter = LoginLimiter(limits, self._authenticate, self._sleep)

    async def _authenticate(self, key_text: str, _: ClientOrigin) -> Principal:
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


async def test_forged_keys_take_turns() -> None:
    logins = Logins()
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


async def test_new_good_key_waits_for_its_turn_only() -> None:
    logins = Logins()
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


async def test_known_key_does_not_wait_and_is_read() -> None:
    logins = Logins()
    good, *_ = logins.good
    await logins.try_key(good, client())
    forged = [logins.try_key(builders.key_text(), client()) for _ in range(5)]
    await run_pending_tasks()
    assert (await logins.try_key(good, client())).account == builders.account()
    assert logins.reads.count(good) == 2
    while not all(each.done() for each in forged):
        await logins.end_delays()
    assert all(each.exception() for each in forged)


async def test_keys_of_suspended_accounts_take_turns_too() -> None:
    logins = Logins()
    logins.error = "account_suspended"
    tries = [logins.try_key(builders.key_text(), client()) for _ in range(6)]
    await run_pending_tasks()
    assert len(logins.reads) == 3
    await logins.end_delays()
    assert len(logins.reads) == 6
    await logins.end_delays()
    assert all(each.done() for each in tries)


@pytest.mark.parametrize("error", sorted(replies.KEY_ERRORS))
async def test_revoked_key_is_no_longer_known(error: str) -> None:
    logins = Logins()
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


async def test_a_key_that_is_used_again_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay.logins._MAX_KNOWN", 2)
    logins = Logins()
    first, second = logins.good
    third = builders.key_text()
    logins.good[third] = builders.account()
    for key_text in (first, second, first, third):
        await logins.try_key(key_text, client())
    assert [*logins.limiter._known] == [digest_of_key(first), digest_of_key(third)]


async def test_clients_that_have_gone_cost_no_read() -> None:
    """A login whose client has disconnected gives its turn to the next without a read."""
    logins = Logins()
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


async def test_malformed_keys_wait_for_nothing() -> None:
    """A malformed key costs no read of the store, so it takes no turn and is refused at once."""
    logins = Logins()
    for _ in range(10):
        with pytest.raises(ServiceError):
            await logins.try_key("bx_live_wrong", client())
    assert logins.delays == []


async def test_a_failed_store_delays_no_login() -> None:
    logins = Logins()
    logins.error = "service_unavailable"
    with pytest.raises(ServiceError):
        await logins.try_key(builders.key_text(), client())
    assert logins.delays == []


async def test_turns_are_taken_in_order() -> None:
    turns, ends, begun = PlacesByName(1), [asyncio.Event() for _ in range(3)], []

    async def take(name: str, number: int) -> None:
        async with turns.acquire(name):
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


async def test_slow_calls_of_an_account_leave_threads_to_others() -> None:
    world = World()
    other = builders.key_text("acct00000002")
    world.store.keys[digest_of_key(other)] = builders.api_key(other, "acct00000002")
    world.set_account(builders.account("acct00000002"))
    answer, waiting = threading.Event(), threading.Semaphore(0)

    def watch(call: str) -> None:
        if call == "domains.look_up":
            waiting.release()
            assert answer.wait(PATIENCE)

    service = ThreadedService(lambda: world.smtp_submission)
    recipients = ("ann@slow.example",)
    world.gate.watch = watch
    slow = [
        asyncio.create_task(service.submit(world.live, recipients, bytearray(MESSAGE), ORIGIN))
        for _ in range(50)
    ]
    for _ in range(8):
        assert await asyncio.to_thread(waiting.acquire, timeout=PATIENCE)
    world.gate.watch = lambda _: None
    assert await service.submit(other, recipients, bytearray(MESSAGE), ORIGIN)
    assert not any(each.done() for each in slow)
    answer.set()
    assert len(set(await asyncio.gather(*slow))) == 50
