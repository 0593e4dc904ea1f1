"""Random histories of emails and endpoints, and what their owners must receive.

Several workers run at the same time. At each call another one, or another thread, may go on.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from random import Random
from typing import Any
from unittest import mock
from uuid import UUID

from pillarbox.adapters import aws
from pillarbox.application.webhooks.ports import PostResult
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import named_id
from pillarbox.domain.messages.message import Event, EventKind
from pillarbox.domain.webhooks.endpoint import DeliveryState
from tests.fakes.builders import ACCOUNT, at, message
from tests.fakes.memory_tables import InTurn
from tests.fakes.webhook_world import WebhookWorld
from tests.fakes.world import Fault, Killed
from verification.turns import Turns

_OK, _BUSY = PostResult(status_code=200), PostResult(status_code=503)
_NO_ANSWER = PostResult(status_code=None, error="no response within 8 seconds")
_LATER = PostResult(status_code=429, retry_after=timedelta(minutes=40))
#: In seconds: the clock of half of the processes is so wrong.
_CLOCK_ERRORS = (-30, -3, 0, 3, 30)
_WORKERS = 3
_CALLS_OF_A_DRAIN = (
    "poster.post",
    "deliveries.put",
    "waiting.remove",
    *["queue.put_all"] * 3,  # the fewest, since a step posts up to twenty events
)
#: Before these a worker may stall, for longer than the first wait of a retry.
_STALLS = ("deliveries.put", "waiting.remove")
_RECIPIENTS = ("ann@example.com", "bob@example.com")


@dataclass(frozen=True)
class Verdict:
    """What a run showed: numbers of events, and what is wrong with it (empty: nothing)."""

    events: int
    repeated: int
    wrong: str = ""


class _BusyWorld(WebhookWorld):
    """A world in which several workers take batches at the same moment."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._turns = Turns(self.random.choice, lambda: self.now, self._pass_time)
        self.parallel = self._in_threads
        self.gate.watch = lambda _: self._turns.switch()
        #: The next call with this name is to fail.
        self._aim = ""

    def disturb(self, draw: Random) -> None:
        """Break calls at random, and often those of a drain after it has begun."""
        self.disorder = 0.05
        self.break_at_random(every=draw.choice([20, 60, 200]))
        break_at_random = self.gate.watch

        def watch(name: str) -> None:
            position = len(self.gate.calls) - 1
            break_at_random(name)
            self._turns.switch()
            if name in _STALLS and draw.random() < 0.05:
                self._stall()
            if name == self._aim:
                self._aim = ""
                error = draw.choice([Killed(), ServiceError("service_unavailable", "planted")])
                self.gate.fault = Fault(position, draw.choice(["before", "after"]), error)
            elif name == "waiting.oldest" and draw.random() < 0.5:
                self._aim = draw.choice(_CALLS_OF_A_DRAIN)

        self.gate.watch = watch

    def calm(self) -> None:
        """Break nothing from now on."""
        self.disorder, self.gate.fault = 0, None
        self.gate.watch = lambda _: self._turns.switch()

    def post(self, url: str, headers: dict[str, str], body: bytes) -> PostResult:
        """Receive a POST, as the endpoint does; a slow one takes two seconds."""
        if "slow" in url:
            self._turns.sleep(2)
        return super().post(url, headers, body)

    def _receive(self) -> None:
        def work() -> None:
            self._turns.switch()
            self._collect()
            super(_BusyWorld, self)._receive()

        self._turns.together([work] * _WORKERS, apart=True)

    def _stall(self) -> None:
        """Wait until another worker has received the retry that this one queued just before."""
        self._collect()
        self._turns.sleep(8)
        self._turns.together([super()._receive], apart=True)

    def _pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def _in_threads(
        self,
        calls: Sequence[Callable[[], Any]],
        patience: timedelta | None = None,
        while_running: Callable[[Sequence[int]], None] = lambda _: None,
    ) -> list[Any]:
        """Implements `webhooks.ports.Parallel`; looks once at the calls that run."""
        running = set(range(len(calls)))

        def make(position: int) -> Any:
            try:
                return calls[position]()
            except Exception as error:  # noqa: BLE001  as the real one
                return error
            finally:
                running.discard(position)

        def look() -> None:
            self._turns.wait(lambda: not running, 1.5)
            if running and patience is not None:
                with suppress(Exception):  # as the real one
                    while_running(sorted(running))

        make_all = [partial(make, position) for position in range(len(calls))]
        return self._turns.together([*make_all, look])[:-1]


@mock.patch.object(aws, "ThreadPoolExecutor", InTurn)
def run(seed: int, mails: int, *, disturbed: bool) -> Verdict:
    """Run one history. An undisturbed one has endpoints that fail, but no fault of our own."""
    random = Random(seed)  # noqa: S311  no secret
    world = _BusyWorld(
        random=Random(seed + 1),  # noqa: S311  no secret
        clock_errors=(timedelta(0), timedelta(seconds=random.choice(_CLOCK_ERRORS))),
    )
    _add_endpoints(world, random)
    if disturbed:
        world.disturb(random)
    _send(world, random, mails)
    world.settle(timedelta(minutes=random.choice([1, 20, 90])))
    _erase(world, random)
    replayed = _replay(world, random)
    _send(world, random, mails)
    if disturbed:  # the last steps are undisturbed, as each fault ends
        world.settle(timedelta(hours=6))
        world.calm()
    world.settle()
    return _judge(world, replayed, disturbed=disturbed)


def _add_endpoints(world: WebhookWorld, random: Random) -> None:
    """Add endpoints that work, fail some events once, are down for hours or slow, or fail one."""
    for kind in random.sample(["works", "fails-once", "down", "poison", "slow", "slow-once"], 2):
        world.add_endpoint(
            endpoint_id=str(named_id(kind, world.now)),
            url=f"https://{kind}.example/",
            types=frozenset({"*", "email.accepted"}),
        )
    up_at = world.now + timedelta(hours=random.uniform(0.1, 20))
    failed: Counter[UUID] = Counter()

    def answer(url: str, event_id: UUID) -> PostResult:
        if "down" in url and world.now < up_at:
            return _NO_ANSWER
        if "once" in url and event_id.int % 3 == 0 and not failed[event_id]:
            failed[event_id] += 1
            return _LATER if event_id.int % 2 else _BUSY
        if "poison" in url and event_id.int % 20 == 0 and failed[event_id] < 4:
            failed[event_id] += 1
            return _BUSY
        return _OK

    world.answer = answer


def _send(world: WebhookWorld, random: Random, mails: int) -> None:
    """Let emails be accepted; their events come in any order, and some of them twice."""
    for _ in range(mails):
        seconds = (world.now - at(0)).total_seconds() + random.uniform(0, 60)
        # Every id follows from the seed, since endpoints answer by the ids of events.
        message_id = named_id(str(random.random()), at(seconds))
        accepted = message(ACCOUNT, message_id, to=_RECIPIENTS)
        world.change(accepted)
        events = [Event(kind=EventKind.SENT, at=at(seconds + 1))]
        for recipient in _RECIPIENTS:
            kind = random.choice([EventKind.DELIVERED, EventKind.BOUNCED, EventKind.COMPLAINED])
            events.append(Event(kind=kind, at=at(seconds + 2), recipient=recipient))
            delays = [
                Event(kind=EventKind.DELAYED, at=at(seconds + n), recipient=recipient)
                for n in range(random.choice([0, 0, 0, 2]))
            ]
            events += delays
        random.shuffle(events)
        for event in events:
            world.change(accepted, event)


def _erase(world: WebhookWorld, random: Random) -> None:
    """Erase one or all recipients of some emails, whose events may still wait."""
    for each in [*world.store.messages.values()]:
        for recipient in random.choice([(), (), _RECIPIENTS[:1], _RECIPIENTS]):
            world.erase(each, recipient)


def _replay(world: WebhookWorld, random: Random) -> Counter[UUID]:
    """Let owners ask in the next minute for some events again, and return which."""
    replayed: Counter[UUID] = Counter()
    for delivery in world.all_deliveries():
        if delivery.state is DeliveryState.DELIVERED and random.random() < 0.3:
            again = replace(delivery.event, replayed_at=world.now)
            world.queue.put_all([again], timedelta(seconds=random.uniform(0, 60)))
            replayed[again.event_id] += 1
    return replayed


def _judge(world: WebhookWorld, replayed: Counter[UUID], *, disturbed: bool) -> Verdict:
    expected = Counter(world.expected())
    due = expected + replayed
    repeated = (world.accepted - due).total()
    wrong = ""
    if lost := due - world.accepted:
        wrong = f"{lost.total()} events lost"
    elif set(world.accepted) - set(expected):
        wrong = "an invented event"
    elif world.all_waiting():
        wrong = "events wait for ever"
    elif any(each.state is DeliveryState.WAITING for each in world.all_deliveries()):
        wrong = "a record says for ever that its event waits"
    elif not disturbed and repeated:
        wrong = f"{repeated} events repeated in an undisturbed run"
    return Verdict(len(expected), repeated, wrong)
