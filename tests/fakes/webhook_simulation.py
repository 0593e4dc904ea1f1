"""The worker of webhooks on a simulated clock: how long one endpoint waits because of another.

What is modelled: SQS hides a message for a time, and serves messages in the order in which they
appear and fair queues (`simulation.Fairness`). Lambda begins with five pollers and adds one each
second, up to a maximum. A poller takes a batch at once if there is a
message, and waits for the end of its invocation. An invocation posts its events at the same time.
Not modelled: cold starts, and that a real queue may return fewer messages than it has.
"""

import heapq
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from math import ceil
from random import Random
from typing import Any
from unittest import mock
from uuid import UUID

from pillarbox.adapters.dynamodb.webhooks.deliveries import (
    DynamoWaitingEvents,
    DynamoWebhookDeliveries,
)
from pillarbox.adapters.dynamodb.webhooks.endpoints import (
    DynamoEndpointHealths,
    DynamoWebhookEndpoints,
)
from pillarbox.adapters.sqs.webhook_jobs import group_of
from pillarbox.application.webhooks.attempts import PostingPorts
from pillarbox.application.webhooks.ports import PostResult
from pillarbox.application.webhooks.post import WebhookWorker
from pillarbox.domain.webhooks.endpoint import (
    EndpointHealth,
    WebhookEndpoint,
    WebhookEvent,
    WebhookFormat,
    WebhookTask,
    new_secret,
)
from pillarbox.domain.webhooks.events import account_paused
from tests.fakes import builders, stores, webhooks
from tests.fakes.memory_tables import MemoryTable
from tests.fakes.simulation import Fairness, Simulation
from tests.fakes.webhook_world import VISIBILITY
from tests.fakes.world import Gate, GatedPort

#: In seconds: from queueing until a waiting poller has the message, and for a call of the table.
_QUEUE = 0.02
_TABLE = 0.004
_POLL = 0.01
#: A task that is queued now is received later by up to this time, which slows drains down.
_LONGEST_POLL = 0.25
#: How many pollers Lambda begins with; each second it adds one.
_POLLERS = 5
#: How exactly the end of a batch is known.
_JOIN = 0.01
HANGS = 8.0


class FairTaskQueue:
    """A standard queue of SQS with the message groups of the adapter. Implements `WebhookQueue`."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._fairness = Fairness(clock)
        self._hidden: list[tuple[datetime, int, WebhookTask]] = []
        self._visible: dict[str, deque[tuple[int, WebhookTask]]] = {}
        self._in_flight: Counter[str] = Counter()
        self._order = count()

    def put_all(self, tasks: Iterable[WebhookTask], delay: timedelta = timedelta(0)) -> None:
        at = self._clock() + max(delay, timedelta(seconds=_QUEUE))
        for task in tasks:
            heapq.heappush(self._hidden, (at, next(self._order), task))

    def next_in(self) -> float:
        """Return the seconds until the next message appears; 0 if there is one now."""
        if any(self._visible.values()):
            return 0
        return (self._hidden[0][0] - self._clock()).total_seconds() if self._hidden else 1

    def receive(self, at_most: int) -> list[WebhookTask]:
        """Return the next messages, those of quiet groups first."""
        while self._hidden and self._hidden[0][0] <= self._clock():
            _, _, task = heapq.heappop(self._hidden)
            self._visible.setdefault(group_of(task), deque()).append((next(self._order), task))
        self._fairness.note(self._in_flight)
        received: list[WebhookTask] = []
        while len(received) < at_most:
            groups = [group for group, waiting in self._visible.items() if waiting]
            if not groups:
                break
            rank = self._fairness.order(groups, self._in_flight)
            first = min(groups, key=lambda group: (rank(group), self._visible[group][0][0]))
            received.append(self._visible[first].popleft()[1])
        self._in_flight.update(map(group_of, received))
        return received

    def finish(self, tasks: Sequence[WebhookTask], results: Sequence[Any]) -> None:
        """Delete the messages that were handled; the others appear again later."""
        self._fairness.note(self._in_flight)
        self._in_flight.subtract(map(group_of, tasks))
        failed = [t for t, r in zip(tasks, results, strict=True) if isinstance(r, Exception)]
        self.put_all(failed, VISIBILITY)


class WebhookService:
    """Endpoints, the queue and its workers.

    Args:
        workers: the maximum of invocations at the same time.
        watches: whether the worker looks for slow endpoints, as it does.
        table: how long a call of the table takes, in seconds.
    """

    def __init__(self, *, workers: int = 50, watches: bool = True, table: float = _TABLE) -> None:
        self.simulation = Simulation()
        self.queue = FairTaskQueue(self.clock)
        self.table = MemoryTable("table")
        self.endpoints = DynamoWebhookEndpoints(MemoryTable("credentials", self.table), self.table)
        self.healths = _Healths(self.table)
        self.waiting = DynamoWaitingEvents(self.table, self.clock)
        #: The seconds that a POST to each endpoint takes.
        self.answers: dict[str, float] = {}
        #: The waits of each endpoint's events until their POST began, in seconds.
        self.waits: dict[str, list[float]] = {}
        self._watches = watches
        self._random = Random(1)  # noqa: S311  no secret
        self._queued_at: dict[str, datetime] = {}
        gate = Gate()
        gate.watch = lambda _: self.simulation.sleep(table)
        deliveries: Any = GatedPort(gate, "deliveries", DynamoWebhookDeliveries(self.table))
        self._ports = PostingPorts(
            endpoints=self.endpoints,
            healths=self.healths,
            deliveries=deliveries,
            waiting=self.waiting,
            queue=self.queue,
            due=webhooks.FakeDueTimes(),
            messages=stores.Messages(stores.Store()),
            suppressions=mock.Mock(),
            find_received=lambda *_: None,
            poster=self,
            aws_poster=mock.Mock(),
            payloads=dict.fromkeys(WebhookFormat, _Payloads()),
            post_alert=mock.Mock(),
            clock=self.clock,
            random=self._random.random,
        )
        self._workers = workers
        self._busy = 0
        self.simulation.start(self._dispatch)

    def clock(self) -> datetime:
        return self.simulation.now

    @property
    def slow(self) -> set[str]:
        """The ids of the endpoints that were slow at some time."""
        return self.healths.slow

    def add_endpoint(self, seconds: float, account_id: str = builders.ACCOUNT) -> WebhookEndpoint:
        """Add an endpoint that accepts each event after some seconds, unless it hangs."""
        secret = new_secret(builders.NOW)
        endpoint = webhooks.endpoint(account_id, secrets=(secret,))
        self.endpoints.add(endpoint, 10)
        self.answers[endpoint.endpoint_id] = seconds
        return endpoint

    def announce(self, endpoint: WebhookEndpoint, seconds: Iterable[float]) -> None:
        """Queue an event for an endpoint at each of some moments after the start."""
        for second in seconds:
            at = builders.NOW + timedelta(seconds=second)
            event = self._event(endpoint, at)
            self._queued_at[str(event.event_id)] = at
            self.queue.put_all([event], timedelta(seconds=second + _QUEUE))

    def _event(self, endpoint: WebhookEndpoint, at: datetime) -> WebhookEvent:
        """Return an event of its own; the time alone does not tell two of them apart."""
        event = account_paused(endpoint.account_id, at).for_endpoint(endpoint.endpoint_id)
        return replace(event, event_id=UUID(int=self._random.getrandbits(128)))

    def run(self, seconds: float) -> None:
        """Run for some seconds."""
        end = builders.NOW + timedelta(seconds=seconds)
        self.simulation.run(lambda: self.clock() > end)

    def percentile(self, endpoint: WebhookEndpoint, share: float) -> float:
        """Return the wait that this share of an endpoint's events did not exceed."""
        waits = sorted(self.waits[endpoint.endpoint_id])
        return waits[ceil(share * len(waits)) - 1]

    def check(self, url: str) -> str | None:
        raise NotImplementedError(url)

    def post(self, url: str, headers: Any, body: bytes) -> PostResult:
        """Receive a POST, as an endpoint does."""
        del url
        endpoint_id = body.decode()
        queued_at = self._queued_at.get(headers["webhook-id"])
        if queued_at is not None:
            wait = (self.clock() - queued_at).total_seconds()
            self.waits.setdefault(endpoint_id, []).append(wait)
            del self._queued_at[headers["webhook-id"]]
        seconds = self.answers[endpoint_id]
        self.simulation.sleep(seconds * self._random.uniform(0.8, 1.0))
        if seconds >= HANGS:
            return PostResult(status_code=None, error="no response within 8 seconds")
        return PostResult(status_code=200)

    def _dispatch(self) -> None:
        """Give batches to the pollers that are free."""
        while True:
            seconds = (self.clock() - builders.NOW).total_seconds()
            pollers = min(_POLLERS + int(seconds), self._workers)
            while self._busy < pollers and (tasks := self.queue.receive(10)):
                self._busy += 1
                self.simulation.start(lambda tasks=tasks: self._work(tasks))  # type: ignore[misc]
            self.simulation.sleep(min(max(self.queue.next_in(), _POLL), _LONGEST_POLL))

    def _work(self, tasks: Sequence[WebhookTask]) -> None:
        worker = WebhookWorker(self._ports, self._parallel)
        self.queue.finish(tasks, worker.handle(tasks))
        self._busy -= 1

    def _parallel(
        self,
        calls: Sequence[Callable[[], Any]],
        patience: timedelta | None = None,
        while_running: Callable[[Sequence[int]], None] = lambda _: None,
    ) -> list[Any]:
        """Implements `webhooks.ports.Parallel` with a process for each call."""
        results: dict[int, Any] = {}

        def run(position: int) -> None:
            try:
                results[position] = calls[position]()
            except Exception as error:  # noqa: BLE001  as the real one
                results[position] = error

        for position in range(len(calls)):
            self.simulation.start(lambda position=position: run(position))  # type: ignore[misc]
        until = None if patience is None else self.clock() + patience
        while len(results) < len(calls):
            self.simulation.sleep(_JOIN)
            if until and patience and self.clock() >= until and len(results) < len(calls):
                until += patience
                if self._watches:
                    while_running([n for n in range(len(calls)) if n not in results])
        return [results[position] for position in range(len(calls))]


class _Healths(DynamoEndpointHealths):
    """The healths, which note whose endpoint was slow."""

    def __init__(self, table: MemoryTable) -> None:
        super().__init__(table)
        self.slow = set[str]()

    def replace(
        self, account_id: str, endpoint_id: str, old: EndpointHealth, new: EndpointHealth
    ) -> bool:
        if new.slow_since is not None:
            self.slow.add(endpoint_id)
        return super().replace(account_id, endpoint_id, old, new)


class _Payloads:
    """Implements `webhooks.ports.PayloadWriter`; a payload is the id of the endpoint."""

    def email(self, *_: Any) -> bytes:
        raise NotImplementedError

    suppression = received = email

    def plain(self, event: WebhookEvent) -> bytes:
        return event.endpoint_id.encode()
