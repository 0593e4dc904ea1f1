"""One message under random interleavings of workers, events, faults, stale reads and clocks.

Two workers and a process that records events stop before each call of a port. Between the calls
a random scheduler lets time pass, kills a process, fails a call, delivers a job twice, or lets an
event arrive hours late. Then the faults stop, and the message must end as promised.
"""

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoHeartbeat
from pillarbox.application.delivery.feedback import FeedbackResult, MessageContention
from pillarbox.application.delivery.ports import (
    EventRecord,
    ProviderEvent,
    SendRejected,
    SendThrottled,
    SendUncertain,
)
from pillarbox.application.delivery.result import DeliveryResult
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import Event, EventKind, Message, Status
from tests.fakes import builders
from tests.fakes.actors import Actor
from tests.fakes.builders import ACCOUNT
from tests.fakes.stores import FakeMailer
from tests.fakes.world import VISIBILITY, Gate, Killed, World

ANN, BOB = "ann@example.com", "bob@example.com"
SECOND: Final = timedelta(seconds=1)
HOUR: Final = timedelta(hours=1)
#: How old an eventually consistent read may be.
STALENESS: Final = 5 * SECOND
#: The first event of an email is queued within this time.
FIRST_EVENT: Final = timedelta(minutes=14)
#: Lambda ends a worker after this time.
LONGEST_HAND_OVER: Final = 60 * SECOND
#: More receipts of a job at one moment are a loop.
MOST_RECEIPTS: Final = 8


class FaultyGate(Gate):
    """A gate at which some calls fail, before or after they take effect."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__()
        self.faults_left = draw.choice((0, 2, 6))
        self._draw = draw

    def pass_through(self, name: str, call: Callable[[], Any]) -> Any:
        self.watch(name)
        chance = 0.4 if name in ("mailer.send", "messages.save") else 0.1
        if not self.faults_left or self._draw.random() > chance:
            return call()
        self.faults_left -= 1
        if self._draw.random() < 0.5:
            call()
        if name == "mailer.send":
            raise SendUncertain
        raise ServiceError("service_unavailable", "planted")


class Provider(FakeMailer):
    """A provider that refuses some emails, and reports those that it took."""

    def __init__(self, run: "Run") -> None:
        super().__init__()
        self._run = run
        self.refusals = (SendThrottled(too_fast=True), SendThrottled(), SendRejected("no", "No."))
        self.refuses = 0.25

    def send(
        self, message: Message, recipients: tuple[str, ...], raw: bytes, tenant: str | None
    ) -> str:
        run = self._run
        known = run.suppressed_at_start[threading.get_ident()]
        assert not known & set(map(mailbox_key, recipients)), "sent to a suppressed address"
        self.answers = [run.draw.choice(self.refusals)] if run.chance(self.refuses) else []
        provider_id = super().send(message, recipients, raw, tenant)
        run.report(message, provider_id)
        return provider_id


@dataclass(eq=False)
class Queued:
    """A job or an event in its queue."""

    body: Any
    queued_at: datetime
    visible_at: datetime
    received_at: list[datetime] = field(default_factory=list)
    deleted: bool = False


@dataclass(frozen=True, eq=False)
class Running:
    """A process, how far its clock is off, and what happens at its end."""

    actor: Actor
    skew: timedelta
    on_end: Callable[[Actor], None]


class Run:
    """One random run over one message."""

    def __init__(self, seed: int) -> None:
        random.seed(seed)  # the service's own jitter
        self.draw = random.Random(seed)  # noqa: S311  a repeatable schedule, not a secret
        self.world = World(builders.account(hold_uncertain=self.chance(0.2)))
        self.gate = self.world.gate = FaultyGate(self.draw)
        self.mailer = self.world.mailer = Provider(self)
        self.store = self.world.store
        to = (ANN, BOB) if self.chance(0.3) else (ANN,)
        expiry = self.draw.choice((2 * SECOND, 600 * SECOND, *[24 * HOUR] * 8))
        changes: dict[str, Any] = {"deadline": self.world.now + expiry}
        if self.chance(0.5):
            self.store.spool["body"] = builders.mail(to=to)
            changes |= {"mail": None, "spool_key": "body"}
        self.job = self.world.accept(builders.message(to=to), **changes)
        self.jobs = [Queued(self.job, self.world.now, self.world.now)]
        self.events: list[Queued] = []
        self.reported: set[EventKind] = set()
        self.workers: list[Running] = []
        self.recorders: list[Running] = []
        self.suppressed_at_start: dict[int, set[str]] = {}
        self.versions = [(self.world.now, self.world.message())]

    def chance(self, probability: float) -> bool:
        return self.draw.random() < probability

    # The queues

    def report(self, message: Message, provider_id: str) -> None:
        """Queue some events of an email. The first one is in time; some are received late."""
        kinds = [EventKind.SENT, EventKind.DELAYED, EventKind.DELIVERED]
        wait = FIRST_EVENT * self.draw.random()
        for kind in self.draw.sample(kinds, self.draw.randint(1, 3)):
            self.reported.add(kind)
            recipient = None if kind is EventKind.SENT else message.to[0]
            event = ProviderEvent(
                account_id=message.account_id,
                message_id=message.message_id,
                at=self.world.now,
                events=(Event(kind=kind, at=self.world.now, recipient=recipient),),
                provider_message_id=provider_id,
            )
            for _ in range(self.draw.choice((1, 1, 2))):
                queued_at = self.world.now + wait
                late = self.draw.choice((SECOND, SECOND, 3 * HOUR)) * self.draw.random()
                self.events.append(Queued(event, queued_at, queued_at + late))
            wait += 2 * HOUR * self.draw.random()

    def update_queues(self) -> None:
        """Queue the results that workers could not save; count the events."""
        now = self.world.now
        for job in self.store.queue:
            for _ in range(self.draw.choice((1, 1, 2))):
                late = self.draw.choice((0 * SECOND, 20 * SECOND, HOUR))
                self.jobs.append(Queued(job, now, now + late))
        self.store.queue.clear()
        queued = [e.queued_at for e in self.events if not e.deleted and e.queued_at <= now]
        self.store.queued_events[:] = queued

    def due(self, queue: Sequence[Queued]) -> list[Queued]:
        return [q for q in queue if not q.deleted and q.visible_at <= self.world.now]

    # The processes

    def deliver(self) -> None:
        """Start a worker with a due job. Sometimes another worker receives the job as well."""
        if not (due := self.due(self.jobs)):
            return
        queued, now = self.draw.choice(due), self.world.now
        if not self.chance(0.1):
            queued.visible_at = now + VISIBILITY
        queued.received_at.append(now)
        assert queued.received_at.count(now) <= MOST_RECEIPTS, "received in a loop"
        first_receipt = len(queued.received_at) == 1
        skew = SECOND * self.draw.choice((0, 0, -30, 30))
        delivery = replace(self.world.delivery, clock=lambda: self.world.now + skew)

        def work() -> DeliveryResult:
            keys = {key for _, key in self.store.suppressed}
            self.suppressed_at_start[threading.get_ident()] = keys
            return delivery.deliver(queued.body, first_receipt=first_receipt)

        def on_end(actor: Actor) -> None:
            if isinstance(actor.result, DeliveryResult):
                wait = actor.result.retry_after
                queued.deleted |= wait is None
                queued.visible_at = self.world.now + (wait or timedelta(0))
            else:
                assert isinstance(actor.error, ServiceError | Killed), repr(actor.error)

        self.workers.append(Running(Actor(self.world, work), skew, on_end))

    def record(self) -> None:
        """Start a process that records some due events together."""
        batch = self.due(self.events)[: self.draw.randint(1, 3)]
        for queued in batch:
            queued.visible_at = self.world.now + 60 * SECOND
            queued.received_at.append(self.world.now)
        feedback = self.world.feedback(lambda text: batch[int(text)].body)
        records = [EventRecord(str(n), len(queued.received_at)) for n, queued in enumerate(batch)]

        def on_end(actor: Actor) -> None:
            results: Any = actor.result or [actor.error] * len(batch)
            for queued, result in zip(batch, results, strict=True):
                queued.deleted |= isinstance(result, FeedbackResult)
                allowed = FeedbackResult | ServiceError | MessageContention | Killed
                assert isinstance(result, allowed), repr(result)

        if batch:
            actor = Actor(self.world, lambda: feedback.record(records))
            self.recorders.append(Running(actor, timedelta(0), on_end))

    def step(self, running: Running, *, kill: bool = False) -> None:
        """Continue a process to its next call, or kill it."""
        actor = running.actor
        if kill:
            actor.kill()
        else:
            actor.step()
        if actor.at == "mailer.send" and not actor.done:
            assert self.world.now + running.skew < self.job.deadline, "sent after its deadline"
        if actor.done:
            for processes in (self.workers, self.recorders):
                if running in processes:
                    processes.remove(running)
            running.on_end(actor)
        self.update_queues()
        if self.world.message() != self.versions[-1][1]:
            self.versions.append((self.world.now, self.world.message()))

    # The schedule

    def read_stale(self) -> None:
        """Let eventually consistent reads return a version of the last seconds."""
        until = [since for since, _ in self.versions[1:]] + [self.world.now]
        versions = [
            version
            for (_, version), end in zip(self.versions, until, strict=True)
            if end >= self.world.now - STALENESS
        ]
        self.store.stale_messages[ACCOUNT, self.job.message_id] = self.draw.choice(versions)

    def pass_time(self, wait: timedelta) -> None:
        """Move the clock. A hand-over ends in time, because its function does."""
        if wait > LONGEST_HAND_OVER:
            for running in [r for r in self.workers if r.actor.at == "mailer.send"]:
                self.step(running, kill=self.chance(0.5))
        self.world.advance(wait)
        self.store.stale_messages.clear()
        self.update_queues()

    def disturb(self, ticks: int) -> None:
        """Make random things happen."""
        draw = self.draw
        for _ in range(ticks):
            running, luck = self.workers + self.recorders, draw.random()
            if running and luck < 0.55:
                self.step(draw.choice(running))
            elif luck < 0.75 and len(self.workers) < 2:
                self.deliver()
            elif luck < 0.8 and not self.recorders:
                self.record()
            elif running and luck < 0.83:
                self.step(draw.choice(running), kill=True)
            elif luck < 0.835:
                key = mailbox_key(draw.choice((ANN, BOB)))
                self.store.suppressed[ACCOUNT, key] = "complained"
            elif luck < 0.87:
                self.read_stale()
            elif luck < 0.92:
                DynamoHeartbeat(self.store.table).record(self.world.now)
            else:
                # Longer than a lease or the wait for an event: a process may be stalled.
                self.pass_time(SECOND * draw.choice((0.1, 1, 3, 31, 120, 960)))

    def settle(self) -> None:
        """Let everything end without faults, and deliver every job once more."""
        self.gate.faults_left = 0
        self.mailer.refuses = 0
        for _ in range(300):
            for running in self.workers + self.recorders:
                while not running.actor.done:
                    self.step(running)
            waiting = [q.visible_at for q in self.jobs + self.events if not q.deleted]
            if not waiting:
                break
            self.pass_time(max(min(waiting) - self.world.now, timedelta(0)))
            DynamoHeartbeat(self.store.table).record(self.world.now)
            self.record()
            self.deliver()
        else:
            raise AssertionError("the queues never become empty")

    # The promises

    def check(self) -> None:
        message, taken = self.world.message(), len(self.mailer.taken)
        assert taken <= 1, "sent twice"
        assert not self.store.spool, "the body is left in the spool"
        assert not message.pending, "pending forever"
        code = message.error.code if message.error else None
        may_be_unknown = (
            self.store.accounts[ACCOUNT].hold_uncertain
            or self.world.now + 30 * SECOND >= self.job.deadline
        )
        if taken:
            decided = self.reported - {EventKind.DELAYED}
            assert message.provider_message_id == "ses-1"
            if EventKind.DELIVERED in decided:
                assert message.status is Status.DELIVERED
            else:
                assert (
                    message.status is Status.SENT
                    or code == "recipient_suppressed"
                    or (not decided and code == "delivery_uncertain")
                )
        elif code == "expired":
            assert self.world.now + 30 * SECOND >= self.job.deadline
        elif code == "delivery_uncertain":
            assert may_be_unknown
        elif code == "recipient_suppressed":
            assert {(ACCOUNT, mailbox_key(r)) for r in message.to} <= set(self.store.suppressed)
        else:
            assert code == "no", f"lost: {code}"


@pytest.mark.parametrize("seeds", [range(n * 25, (n + 1) * 25) for n in range(8)], ids=str)
def test_no_schedule_breaks_a_promise(seeds: range) -> None:
    """A message is sent once, in time and only to whom it may be, and its status is right."""
    for seed in seeds:
        run = Run(seed)
        try:
            run.disturb(run.draw.randint(20, 150))
            run.settle()
            run.check()
            final = run.world.message()
            run.jobs = [Queued(q.body, q.queued_at, run.world.now) for q in run.jobs]
            run.settle()
            assert run.world.message() == final, "changed by a repeated job"
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise
