"""Webhooks from the table's stream to the endpoints, over fakes, with a clock and faults.

What is modelled: the queue hides tasks, delivers the tasks of a dead worker again, and may
deliver a task twice. The stream delivers its records in order, and repeats a batch that failed.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from random import Random
from typing import Any
from unittest import mock
from uuid import UUID

from pillarbox.adapters.dynamodb.accounts.alerts import DynamoAlerts
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.webhooks.deliveries import (
    DynamoWaitingEvents,
    DynamoWebhookDeliveries,
)
from pillarbox.adapters.dynamodb.webhooks.endpoints import (
    DynamoEndpointHealths,
    DynamoWebhookEndpoints,
)
from pillarbox.application.webhooks.announce import Announcement
from pillarbox.application.webhooks.attempts import Attempts, PostingPorts
from pillarbox.application.webhooks.enqueue_due import DueTasks
from pillarbox.application.webhooks.ports import PostResult
from pillarbox.application.webhooks.post import WebhookWorker
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.kept import erase_recipient
from pillarbox.domain.messages.mail import Mail
from pillarbox.domain.messages.message import Event, Message, SendRoute
from pillarbox.domain.webhooks.endpoint import (
    EndpointHealth,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
    WebhookTask,
)
from pillarbox.domain.webhooks.events import AccountEvent, events_of, new_events, receives
from pillarbox.http.webhooks.payload import payload_writers
from tests.fakes import alerts, builders, stores, webhooks
from tests.fakes.container import Container
from tests.fakes.memory_tables import MemoryTable
from tests.fakes.world import Fault, Gate, GatedPort, Killed

#: The queue delivers the tasks of a dead worker again after this time.
VISIBILITY = timedelta(seconds=180)
_MINUTE = timedelta(minutes=1)
_MOMENT = timedelta(milliseconds=1)

type Change = tuple[Message | None, Message]


def one_after_another(
    calls: Sequence[Callable[[], Any]],
    patience: timedelta | None = None,
    while_running: Callable[[Sequence[int]], None] = lambda _: None,
) -> list[Any]:
    """Implements `webhooks.ports.Parallel` without threads."""
    del patience, while_running
    results: list[Any] = []
    for call in calls:
        try:
            results.append(call())
        except Exception as error:  # noqa: BLE001  as the real one
            results.append(error)
    return results


def beyond_patience(
    calls: Sequence[Callable[[], Any]],
    patience: timedelta | None = None,
    while_running: Callable[[Sequence[int]], None] = lambda _: None,
) -> list[Any]:
    """The same for calls whose POSTs all take longer than the worker's patience."""
    if patience is not None:
        with suppress(Exception), mock.patch.object(Attempts, "is_slow", return_value=True):
            while_running(range(len(calls)))
    return one_after_another(calls)


@dataclass
class WebhookWorld:
    """One account with endpoints; what happens to its messages is announced and posted."""

    gate: Gate = field(default_factory=Gate)
    now: datetime = builders.NOW
    random: Random = field(default_factory=lambda: Random(1))  # noqa: S311  no secret
    #: How an endpoint answers an event now; by default it accepts.
    answer: Callable[[str, UUID], PostResult] = lambda _url, _event_id: PostResult(status_code=200)
    batch: int = 10
    #: The share of tasks that the queue delivers twice, and up to two seconds later than others;
    #: and of batches that the stream repeats.
    disorder: float = 0
    #: How wrong the clocks of the worker's invocations and of the timer are: each has one of these.
    clock_errors: Sequence[timedelta] = (timedelta(0),)
    #: Makes the calls of the worker.
    parallel: Callable[..., list[Any]] = one_after_another

    def __post_init__(self) -> None:
        self.store = stores.Store()
        self.table = MemoryTable("table")
        self.endpoints = DynamoWebhookEndpoints(MemoryTable("credentials", self.table), self.table)
        self.healths = DynamoEndpointHealths(self.table)
        self.deliveries = DynamoWebhookDeliveries(self.table)
        self.waiting = DynamoWaitingEvents(self.table, lambda: self.now)
        self.queue = webhooks.FakeWebhookQueue()
        self.due = webhooks.FakeDueTimes()
        self.alerts = DynamoAlerts(self.table)
        self.alert_times = alerts.FakeAlertTimes()
        self.poster = webhooks.FakeWebhookPoster()
        self.poster.answer = lambda post: self.answer(post.url, post.event_id)
        self.suppressions = DynamoSuppressions(self.table)
        #: The endpoints that were added, also those that were removed since.
        self.added: list[WebhookEndpoint] = []
        #: How often each event was accepted by its endpoint.
        self.accepted: Counter[UUID] = Counter()
        #: The changes of records that the stream has not delivered yet.
        self.stream: list[Change] = []
        #: What the messages that are announced went through, with the recipients of then.
        self._happened: list[AccountEvent] = []
        self.outcomes: Counter[str] = Counter()
        self._hidden: list[tuple[datetime, int, WebhookTask]] = []
        self._order = count()
        self._next_minute = self.now.replace(second=0, microsecond=0) + _MINUTE
        self.announcement = Announcement[Change](
            account_of=lambda change: change[1].account_id,
            read=lambda change: new_events(*change),
            written_at=lambda _: None,
            endpoints=self._port("endpoints", self.endpoints),
            queue=self._port("queue", self.queue),
            clock=self._clock(),
        )

        #: What tells owners, who have no chat.
        self.services = Container(
            {"webhooks": "off"},
            account_store=self._port("accounts", self.store.accounts),
            alert_store=self._port("alerts", self.alerts),
            alert_times=self._port("alert_times", self.alert_times),
            clock=lambda: self.now,
            endpoint_healths=self._port("healths", self.healths),
            endpoint_store=self._port("endpoints", self.endpoints),
            jobs=self._port("jobs", stores.FakeJobs(self.store)),
            message_store=self._port("messages", stores.Messages(self.store)),
            owners_of=lambda _: [],
        )

    def _port(self, name: str, port: object) -> Any:
        return GatedPort(self.gate, name, port)

    def _clock(self) -> Callable[[], datetime]:
        """Return the clock of a new process."""
        error = self.clock_errors[0]
        if len(self.clock_errors) > 1:
            error = self.random.choice(self.clock_errors)
        return lambda: self.now + error

    @property
    def ports(self) -> PostingPorts:
        return PostingPorts(
            endpoints=self._port("endpoints", self.endpoints),
            healths=self._port("healths", self.healths),
            deliveries=self._port("deliveries", self.deliveries),
            waiting=self._port("waiting", self.waiting),
            queue=self._port("queue", self.queue),
            due=self._port("due", self.due),
            messages=self._port("messages", stores.Messages(self.store)),
            suppressions=self._port("suppressions", self.suppressions),
            find_received=lambda *_: None,
            poster=self._port("poster", self),
            aws_poster=mock.Mock(),
            payloads=payload_writers("eu-west-1"),
            post_alert=mock.Mock(return_value="alert_posted"),
            clock=self._clock(),
            random=self.random.random,
        )

    def owner_emails(self) -> list[Mail]:
        """Return the emails to owners that the worker sends: those with job and record."""
        notices = [
            message
            for message in self.store.messages.values()
            if message.origin.route is SendRoute.NOTICE
        ]
        return [
            next(
                job.mail
                for job in self.store.queue
                if job.mail is not None
                and (job.message_id, job.body_hash) == (message.message_id, message.body_hash)
            )
            for message in sorted(notices, key=lambda message: message.message_id)
        ]

    def post(self, url: str, headers: dict[str, str], body: bytes) -> PostResult:
        """Receive a POST, as the endpoint does."""
        result = self.poster.post(url, headers, body)
        if result.status_code == 200:
            self.accepted[UUID(headers["webhook-id"])] += 1
        return result

    def add_endpoint(self, **changes: Any) -> WebhookEndpoint:
        added = webhooks.endpoint(**changes)
        self.endpoints.add(added, 10)
        self.added.append(added)
        return added

    def set_health(self, endpoint: WebhookEndpoint, health: EndpointHealth) -> None:
        place = endpoint.account_id, endpoint.endpoint_id
        assert self.healths.replace(*place, self.healths.get(*place), health)

    def health_of(self, endpoint: WebhookEndpoint) -> EndpointHealth:
        return self.healths.get(endpoint.account_id, endpoint.endpoint_id)

    def deliveries_of(self, endpoint: WebhookEndpoint) -> Sequence[WebhookDelivery]:
        place = endpoint.account_id, endpoint.endpoint_id
        return self.deliveries.newest_first(*place, 10**6, None).items

    def all_deliveries(self) -> list[WebhookDelivery]:
        return [each for endpoint in self.added for each in self.deliveries_of(endpoint)]

    def all_waiting(self) -> list[WebhookEvent]:
        """Return the events that wait, those of each endpoint oldest first."""
        return [
            each
            for endpoint in self.added
            for each in self.waiting.oldest(endpoint.account_id, endpoint.endpoint_id, 10**6)
        ]

    def change(self, message: Message, *events: Event) -> Message:
        """Accept a message or add events to it, and put the change on the stream.

        The reader of the stream receives only changes of messages that are announced.
        """
        key = (message.account_id, message.message_id)
        old = self.store.messages.get(key)
        accepted = replace(message, announced=bool(self.endpoints.of_account(message.account_id)))
        new = (old or accepted).with_events(events)
        if new.announced:
            before = {(each.kind, each.recipient) for each in events_of(old)} if old else set()
            self._happened += (
                each for each in events_of(new) if (each.kind, each.recipient) not in before
            )
        return self._put(old, new)

    def erase(self, message: Message, mailbox: str) -> Message:
        """Erase a recipient. Nothing happens to the message by that."""
        old = self.store.messages[message.account_id, message.message_id]
        return self._put(old, erase_recipient(old, mailbox))

    def _put(self, old: Message | None, new: Message) -> Message:
        self.store.messages[new.account_id, new.message_id] = new
        if new is not old and new.announced:
            self.stream.append((old, new))
        return new

    def expected(self) -> set[UUID]:
        """Return the ids of all events that the endpoints must receive, as they happened."""
        return {
            event.event_id(endpoint.endpoint_id)
            for account_id in {event.account_id for event in self._happened}
            for endpoint in self.endpoints.of_account(account_id)
            for event in self._happened
            if receives(endpoint, event.type)
        }

    def settle(self, limit: timedelta = timedelta(days=7)) -> None:
        """Run stream, queue and timer until nothing is left to do, or for a time."""
        end = self.now + limit
        for _ in range(10**6):
            if self.stream:
                self._read_stream()
                continue
            self._collect()
            due = [self._hidden[0][0]] if self._hidden else []
            timers: Sequence[dict[datetime, Any]] = (self.due.minutes, self.alert_times.minutes)
            minutes = [minute for timer in timers for minute, tasks in timer.items() if tasks]
            if minutes:
                due.append(max(self._next_minute, min(minutes)))
            if not due or min(due) > end:
                return
            self.now = max(self.now, min(due))
            if self.now >= self._next_minute:
                self._next_minute = self.now.replace(second=0, microsecond=0) + _MINUTE
                self._tick()
                self._collect()
            self._receive()
        raise AssertionError("the tasks never end")

    def _read_stream(self) -> None:
        """Deliver the changes to the reader, until a batch succeeds."""
        try:
            repeats = self.random.random() < self.disorder
            if self.announcement.apply(self.stream).retry_from is None and not repeats:
                self.stream.clear()
        except Killed:
            pass
        self.now += _MOMENT

    def _tick(self) -> None:
        timer = DueTasks(
            due=self._port("due", self.due),
            queue=self._port("queue", self.queue),
            notices=self.services.owner_notices,
            clock=self._clock(),
        )
        for do in (timer.enqueue, self.services.alert_telling.tell_due):
            with suppress(ServiceError, Killed):  # the next minute does it
                do()

    def _collect(self) -> None:
        for task, delay in self.queue.tasks:
            self.deliver_again(task, delay)
            if self.random.random() < self.disorder:
                self.deliver_again(task, delay + timedelta(seconds=self.random.uniform(0, 2)))
        self.queue.tasks.clear()

    def break_at_random(self, every: int) -> None:
        """Let a call fail or kill its process once in about so many calls, from now on."""

        def plan(position: int) -> None:
            error: BaseException = self.random.choice(
                [Killed(), ServiceError("service_unavailable", "planted")]
            )
            when: Any = self.random.choice(["before", "after"])
            self.gate.fault = Fault(position + self.random.randint(1, 2 * every), when, error)

        def watch(_: str) -> None:
            position = len(self.gate.calls) - 1
            if self.gate.fault is None or self.gate.fault.position < position:
                plan(position)

        self.gate.watch = watch

    def deliver_again(self, task: WebhookTask, delay: timedelta = timedelta(0)) -> None:
        """Let the queue deliver a task, which may be one that it delivered before."""
        heapq.heappush(self._hidden, (self.now + delay, next(self._order), task))

    def _receive(self) -> None:
        """Hand a batch of visible tasks to a worker."""
        received: list[WebhookTask] = []
        while self._hidden and self._hidden[0][0] <= self.now and len(received) < self.batch:
            received.append(heapq.heappop(self._hidden)[2])
        if not received:
            return
        try:
            results: Sequence[Any] = WebhookWorker(self.ports, self.parallel).handle(received)
        except Killed:
            results = [RuntimeError("killed")] * len(received)
        for task, result in zip(received, results, strict=True):
            if isinstance(result, Exception):
                self.deliver_again(task, VISIBILITY)
            else:
                self.outcomes[result] += 1
