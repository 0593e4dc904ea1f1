"""The workers on a simulated clock: the real Delivery and the real sending rate.

What is modelled: SQS hides a message for whole seconds, counts receipts and serves fair queues.
A worker handles the large messages of a batch one after the other.
Lambda polls each queue with a number of workers, which grows while there is work. SES has a rate
(`local.ses.rate_limit`). Table, queue and SES take the time that `Latency` says.

Processes are greenlets: one runs at a time, and continues until it waits.
"""

import heapq
from collections import Counter, deque
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from math import ceil, exp
from random import Random
from typing import Any

from botocore.exceptions import ClientError
from greenlet import getcurrent, greenlet

from local.ses.rate_limit import RateLimit
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoHeartbeat, DynamoSeenEvents
from pillarbox.adapters.dynamodb.messages.sending_rate import DynamoSendingRate
from pillarbox.application.delivery.deliver import Delivery
from pillarbox.application.delivery.holds import Holds
from pillarbox.application.delivery.ports import SendThrottled
from pillarbox.application.delivery.result import Outcome
from pillarbox.domain.accounts.account import QueuedMail, Suspension
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.mail import Job
from pillarbox.domain.messages.message import Message
from tests.fakes import builders, stores
from tests.fakes.memory_tables import QuickTable

#: After so many seconds with large emails a worker leaves the rest to others.
_BUSY = 1.0
_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Latency:
    """How long each part takes, in seconds."""

    #: From the acceptance until a waiting worker has the message.
    queue: float = 0.02
    #: To read a record, check the suppressions and build the message.
    prepare: float = 0.02
    table: float = 0.004
    ses: float = 0.05
    #: How late a call arrives at SES, on average; the times are distributed exponentially.
    jitter: float = 0.03


class Simulation:
    """A clock, and the processes that wait for it."""

    def __init__(self) -> None:
        self.now = builders.NOW
        self.running = False
        self._due: list[tuple[datetime, int, greenlet]] = []
        self._order = count()
        self._scheduler = getcurrent()

    def start(self, work: Callable[[], None]) -> None:
        """Start a process now."""
        self.resume(greenlet(work, self._scheduler))

    def sleep(self, seconds: float) -> None:
        """Let a process wait."""
        self.resume(getcurrent(), seconds)
        self.wait()

    def together(self, works: Sequence[Callable[[], None]]) -> None:
        """Let a process start others, and wait until all have ended."""
        waiting, running = getcurrent(), len(works)

        def run(work: Callable[[], None]) -> None:
            nonlocal running
            work()
            running -= 1
            if not running:
                self.resume(waiting)

        for work in works:
            self.start(partial(run, work))
        self.wait()

    def lock(self) -> "SimulatedLock":
        """Return a lock for which a process waits on the simulated clock."""
        return SimulatedLock(self)

    def run(self, done: Callable[[], bool]) -> None:
        """Run the processes until it is done."""
        self.running = True
        while not done():
            self.now, _, process = heapq.heappop(self._due)
            process.switch()

    def wait(self) -> None:
        """Let a process wait until another one resumes it."""
        self._scheduler.switch()

    def resume(self, process: greenlet, seconds: float = 0) -> None:
        """Continue a process after some seconds."""
        due = self.now + timedelta(seconds=seconds)
        heapq.heappush(self._due, (due, next(self._order), process))


class SimulatedLock:
    """A lock of processes, which get it in the order in which they asked."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._held = False
        self._waiting: deque[greenlet] = deque()

    def __enter__(self) -> None:
        if self._held:
            self._waiting.append(getcurrent())
            self._simulation.wait()
        self._held = True

    def __exit__(self, *_: object) -> None:
        self._held = bool(self._waiting)
        if self._waiting:
            self._simulation.resume(self._waiting.popleft())


@dataclass(eq=False)
class Queued:
    """A message in the queue."""

    job: Job
    #: Its place among those that become visible at the same time.
    number: int = 0
    visible_at: datetime = builders.NOW
    receipts: int = 0
    #: How many seconds more it takes to build; such a one is large, and built alone.
    builds: float = 0.0


class Fairness:
    """How SQS orders the message groups of a queue.

    A group is noisy if it has at least 30 messages in flight and more than a tenth of all, or if it
    took more than a tenth of the consumers' recent time. The others come first, and of noisy ones
    that with the fewest in flight. A group whose backlog is empty is quiet again
    (docs.aws.amazon.com/AWSSimpleQueueService, sqs-fair-queues-detailed.html, 2026-11). What is
    recent AWS does not say.
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._noted = clock()
        self._total = 0.0
        self._seconds: dict[str, float] = {}

    def note(self, in_flight: Mapping[str, int]) -> None:
        """Count the time since the last note, before what is in flight changes."""
        elapsed = (self._clock() - self._noted).total_seconds()
        self._noted += timedelta(seconds=elapsed)
        kept = exp(-elapsed / 60)
        self._total = self._total * kept + elapsed * sum(in_flight.values())
        for group in {*in_flight, *self._seconds}:
            taken = elapsed * in_flight.get(group, 0)
            self._seconds[group] = self._seconds.get(group, 0.0) * kept + taken

    def order(
        self, backlog: Container[str], in_flight: Mapping[str, int]
    ) -> Callable[[str], tuple[bool, int]]:
        """Return the key by which groups with a backlog are served."""
        self._seconds = {g: s for g, s in self._seconds.items() if g in backlog}
        total = sum(in_flight.values())
        noisy = {group for group, number in in_flight.items() if 30 <= number > total / 10}
        noisy |= {group for group, taken in self._seconds.items() if taken > self._total / 10}
        return lambda group: (group in noisy, in_flight.get(group, 0) if group in noisy else 0)


class FairQueue:
    """A standard queue of SQS with message groups, served by `Fairness`."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._fairness = Fairness(clock)
        self._visible: list[Queued] = []
        self._hidden: list[tuple[datetime, int, Queued]] = []
        self._order = count()
        self._in_flight: Counter[str] = Counter()

    def hide(self, message: Queued, until: datetime) -> None:
        """Hide a message until a time; a new one is in the queue from then on."""
        message.visible_at = until
        heapq.heappush(self._hidden, (until, next(self._order), message))

    def delete(self, message: Queued) -> None:
        """Delete a message that is in flight."""
        self._count({message.job.account_id: -1})
        message.visible_at = _NEVER

    def next_in(self) -> float:
        """Return the seconds until the next message is visible, or a shorter time."""
        while self._hidden and self._hidden[0][0] != self._hidden[0][2].visible_at:
            heapq.heappop(self._hidden)
        next_at = self._hidden[0][0] if self._hidden else _NEVER
        wait = 0.0 if self._visible else (next_at - self._clock()).total_seconds()
        return min(max(wait, 0.001), 1.0)

    def receive(self, at_most: int, visibility: timedelta) -> list[Queued]:
        now = self._clock()
        while self._hidden and self._hidden[0][0] <= now:
            at, _, message = heapq.heappop(self._hidden)
            if message.visible_at == at:
                self._visible.append(message)
                self._count({message.job.account_id: -1 if message.receipts else 0})
        rank = self._fairness.order({m.job.account_id for m in self._visible}, self._in_flight)
        self._visible.sort(key=lambda m: (rank(m.job.account_id), m.visible_at, m.number))
        received, self._visible = self._visible[:at_most], self._visible[at_most:]
        self._count(Counter(m.job.account_id for m in received))
        for message in received:
            message.receipts += 1
            self.hide(message, now + visibility)
        return received

    def _count(self, changes: Mapping[str, int]) -> None:
        self._fairness.note(self._in_flight)
        for group, change in changes.items():
            self._in_flight[group] += change


@dataclass
class Report:
    """What happened to the emails."""

    waits: dict[str, list[float]] = field(default_factory=dict)
    receipts: list[int] = field(default_factory=list)
    throttled: int = 0
    sent_at: list[float] = field(default_factory=list)

    def percentile(self, kind: str, share: float) -> float:
        """Return the wait in seconds that this share of the emails of a kind did not exceed."""
        waits = sorted(self.waits[kind])
        return waits[ceil(share * len(waits)) - 1]


class Service:
    """Two queues, their workers and SES.

    Args:
        rate: the recipients a second that SES grants.
        workers: the maximum number of workers of each queue.
        latency: how long each part takes.
        others: the recipients a second that another system sends with the same SES account.
        warm: whether all workers start at once, as after a pause.
        most_units: the write units that the table allows a partition in a second.
        refuses: from when until when SES throttles every call, in seconds since the start.
    """

    def __init__(
        self,
        rate: float,
        *,
        workers: int = 10,
        latency: Latency = Latency(),
        others: float = 0.0,
        warm: bool = False,
        most_units: int = 1_000,
        refuses: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        self.rate, self._refuses = rate, refuses
        self._others, self._sent_by_others = others, 0
        self.latency = latency
        self.simulation = Simulation()
        self.table = SlowTable(self, most_units)
        self.report = Report()
        self._ses = RateLimit(rate)
        self._random = Random(1)  # noqa: S311  no secret
        self._store = stores.Store()
        self._kinds: dict[Any, str] = {}
        self._left = 0
        self._ordinary, self._urgent = FairQueue(self.clock), FairQueue(self.clock)
        self._messages = stores.Messages(self._store)
        for number in range(workers):
            # Lambda starts with five pollers of a queue and adds more while there is work.
            delay = 0.0 if warm else max(number - 4, 0) * 1.0
            self.simulation.start(lambda delay=delay: self._work(self._ordinary, 10, delay))  # type: ignore[misc]
            self.simulation.start(lambda delay=delay: self._work(self._urgent, 1, delay))  # type: ignore[misc]

    def clock(self) -> datetime:
        return self.simulation.now

    def accept(
        self,
        seconds: float,
        kind: str,
        recipients: int = 1,
        *,
        account_id: str = builders.ACCOUNT,
        urgent: bool = False,
        builds: float = 0.0,
    ) -> None:
        """Accept an email some seconds after the start; one that takes long to build is large."""
        at = builders.NOW + timedelta(seconds=seconds)
        message = builders.message(
            account_id,
            new_id(at),
            to=tuple(f"a{number}@example.com" for number in range(recipients)),
        )
        deadline = at + timedelta(minutes=10 if urgent else 24 * 60)
        job = builders.job(message, queued_at=at, deadline=deadline)
        self._store.messages[account_id, message.message_id] = message
        self._kinds[message.message_id] = kind
        self._left += 1
        visible_at = at + timedelta(seconds=self.latency.queue)
        queued = Queued(job, self._left, builds=builds)
        (self._urgent if urgent else self._ordinary).hide(queued, visible_at)

    def hold(self, count: int, account_id: str) -> None:
        """Let emails of a suspended account wait; each is received every ten minutes."""
        message = builders.message(account_id, new_id(builders.NOW - timedelta(minutes=10)))
        self._store.messages[account_id, message.message_id] = message
        suspension = Suspension(builders.NOW, queued=QueuedMail.HOLD)
        self._store.accounts[account_id] = builders.account(account_id, suspension=suspension)
        job = builders.job(message, queued_at=message.created_at)
        for number in range(count):
            seconds = timedelta(minutes=10) * number / count
            self._ordinary.hide(Queued(job), builders.NOW + seconds)

    def run(self, seconds: float = 1e9) -> Report:
        """Run until every email is sent, or for some seconds."""
        end = builders.NOW + timedelta(seconds=min(seconds, 10**7))
        self.simulation.run(lambda: not self._left or self.clock() > end)
        return self.report

    def _work(self, queue: FairQueue, batch: int, delay: float) -> None:
        simulation = self.simulation
        delivery = self._delivery()
        simulation.sleep(delay)
        while True:
            received = queue.receive(batch, timedelta(seconds=90))
            if not received:  # a long poll returns at once when there is a message
                simulation.sleep(queue.next_in())
                continue
            small = [message for message in received if not message.builds]
            if small:
                simulation.together(
                    [lambda m=message: self._deliver(queue, delivery, m) for message in small]  # type: ignore[misc]
                )
            started = self.clock()
            for message in received:
                if message.builds and (self.clock() - started).total_seconds() >= _BUSY:
                    queue.hide(message, self.clock())
                elif message.builds:
                    self._deliver(queue, delivery, message)

    def _deliver(self, queue: FairQueue, delivery: Delivery, message: Queued) -> None:
        self.simulation.sleep(self.latency.prepare + message.builds)
        result = delivery.deliver(message.job, first_receipt=message.receipts == 1)
        wait = result.retry_after
        if wait is not None and result.outcome is Outcome.HELD:
            queue.delete(message)
            queue.hide(
                Queued(message.job), self.clock() + timedelta(seconds=ceil(wait.total_seconds()))
            )
        elif wait is None:
            queue.delete(message)
            self.report.receipts.append(message.receipts)
            self._left -= 1
        else:
            queue.hide(message, self.clock() + timedelta(seconds=ceil(wait.total_seconds())))

    def _delivery(self) -> Delivery:
        return Delivery(
            messages=self._messages,
            directory=stores.Directory(self._store),
            holds=Holds(stores.Directory(self._store), self.clock),
            suppressions=DynamoSuppressions(self._store.table),
            jobs=stores.FakeJobs(self._store),
            mailer=_Mailer(self),
            rate=DynamoSendingRate(
                self.table,
                lambda: self.rate,
                self.clock,
                self.simulation.sleep,
                self.simulation.lock(),
            ),
            seen_events=DynamoSeenEvents(self._store.table),
            event_queue=stores.FakeEventQueue(self._store),
            heartbeat=DynamoHeartbeat(self._store.table),
            build=lambda _mail, _message: b"",
            keep=lambda _message, _raw: None,
            clock=self.clock,
            pause=self.simulation.sleep,
            new_owner=lambda: "worker",
        )

    def send(self, message: Message, recipients: int) -> str:
        """Hand an email to SES.

        Raises:
            SendThrottled: the rate was exceeded.
        """
        self.simulation.sleep(self._random.expovariate(1 / self.latency.jitter))
        arrived = (self.clock() - builders.NOW).total_seconds()
        while self._sent_by_others < int(arrived * self._others):
            self._sent_by_others += 1
            self._ses.allow(1, self._sent_by_others / self._others)
        begins, ends = self._refuses
        allowed = not begins <= arrived < ends and self._ses.allow(recipients, arrived)
        self.simulation.sleep(self.latency.ses)
        if not allowed:
            self.report.throttled += 1
            raise SendThrottled(too_fast=True)
        wait = arrived - (message.created_at - builders.NOW).total_seconds()
        self.report.waits.setdefault(self._kinds[message.message_id], []).append(wait)
        self.report.sent_at.append(arrived)
        return "ses"


class _Mailer:
    def __init__(self, service: Service) -> None:
        self._service = service

    def send(
        self, message: Message, recipients: tuple[str, ...], raw: bytes, tenant: str | None
    ) -> str:
        del raw, tenant
        return self._service.send(message, len(recipients))

    def send_probe(self, message: Message) -> None:
        self._service.send(message, 1)


class SlowTable(QuickTable):
    """A table whose calls take time on the simulated clock, and which throttles a hot partition.

    Attributes:
        units: the write units of each partition key in each second; a throttled call uses none.
        throttled: how many calls were throttled.
    """

    def __init__(self, service: Service, most_units: int) -> None:
        super().__init__()
        self._service, self._most_units = service, most_units
        self.units: Counter[tuple[str, int]] = Counter()
        self.throttled = 0

    def update_item(self, **request: Any) -> dict[str, Any]:
        second = int((self._service.clock() - builders.NOW).total_seconds())
        partition = (request["Key"]["pk"]["S"], second)
        if self.units[partition] >= self._most_units:
            self.throttled += 1
            self._check()
            error: Any = {"Error": {"Code": "ProvisionedThroughputExceededException"}}
            raise ClientError(error, "UpdateItem")
        self.units[partition] += 1
        return super().update_item(**request)

    def _check(self) -> None:
        if self._service.simulation.running:
            self._service.simulation.sleep(self._service.latency.table / 2)
