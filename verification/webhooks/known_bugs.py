"""Bugs that the runs must find. Each is a context in which the service has the bug."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest import mock

from pillarbox.application.webhooks.attempts import (
    AttemptResult,
    Attempts,
    PostingPorts,
    drain_of,
)
from pillarbox.application.webhooks.drain import Drains
from pillarbox.application.webhooks.enqueue_due import DueTasks
from pillarbox.application.webhooks.post import WebhookWorker
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.webhooks import events as webhook_events
from pillarbox.domain.webhooks.endpoint import DeliveryState, OwnerNotice, WebhookDelivery
from pillarbox.domain.webhooks.events import AccountEvent
from pillarbox.domain.webhooks.retries import retry_wait
from tests.fakes.webhooks import FakeWaitingEvents


@contextmanager
def recipients_share_an_event() -> Iterator[None]:
    """A change is compared by kind only, so the second recipient's event is not announced."""

    def by_kind(old: Any, new: Any) -> Any:
        known = {event.kind for event in webhook_events.events_of(old)} if old else set()
        return [event for event in webhook_events.events_of(new) if event.kind not in known]

    with mock.patch("tests.fakes.webhook_world.new_events", by_kind):
        yield


@contextmanager
def erasures_are_announced() -> Iterator[None]:
    """A change is compared by recipient as it is, so what an erased person has had is new."""

    def as_it_is(old: Any, new: Any) -> Any:
        known = {(e.kind, e.recipient) for e in webhook_events.events_of(old)} if old else set()
        added = webhook_events.events_of(new)
        return [event for event in added if (event.kind, event.recipient) not in known]

    with mock.patch("tests.fakes.webhook_world.new_events", as_it_is):
        yield


@contextmanager
def erased_while_waiting() -> Iterator[None]:
    """An event that waits is not found any more after its recipient was erased."""
    with mock.patch("pillarbox.application.webhooks.attempts.find_erased", return_value=None):
        yield


@contextmanager
def replays_wait_before_their_record() -> Iterator[None]:
    """A drain in between sees the record of before, and takes the replay for a repetition."""

    def let_wait(
        self: WebhookWorker, endpoint: Any, delivery: WebhookDelivery, *, is_stored: bool
    ) -> str:
        ports: PostingPorts = self._ports
        ports.waiting.put(delivery.event)
        if not is_stored or delivery.next_at is not None:
            ports.deliveries.put(replace(delivery, next_at=None))
        found = self._read(endpoint.account_id, endpoint.endpoint_id)
        if found is not None and self._must_drain(*found):
            ports.queue.put_all([drain_of(endpoint)])
        return "waiting"

    with (
        mock.patch.object(WebhookWorker, "_let_wait", let_wait),
        mock.patch("pillarbox.application.webhooks.drain.is_replayed", return_value=False),
    ):
        yield


@contextmanager
def each_time_another_id() -> Iterator[None]:
    """The time is a part of the id, so a repeated provider event is another event."""
    original = AccountEvent.event_id

    def with_time(self: AccountEvent, endpoint_id: str) -> Any:
        return original(self, f"{endpoint_id}{self.at}")

    with mock.patch.object(AccountEvent, "event_id", with_time):
        yield


@contextmanager
def recorded_before_scheduled() -> Iterator[None]:
    """The record says that a retry follows before the retry is stored."""

    def retry(self: Attempts, endpoint: Any, failed: AttemptResult) -> AttemptResult:
        ports: PostingPorts = self._ports
        health = self.note_failure(endpoint, failed)
        wait = retry_wait(len(failed.delivery.attempts), ports.random(), failed.retry_after)
        if wait is None:
            return self.give_up(failed)
        if health.disabled_at is not None or health.open_since is not None:
            return replace(failed, outcome="waiting")
        again = replace(failed.delivery, next_at=ports.clock() + wait)
        ports.deliveries.put(again)
        ports.schedule(failed.delivery.event, wait)
        return replace(failed, outcome="retry", delivery=again)

    with mock.patch.object(Attempts, "retry", retry):
        yield


@contextmanager
def removed_before_queued() -> Iterator[None]:
    """The timer forgets tasks before the queue has them."""

    def enqueue(self: DueTasks) -> int:
        for minute, tasks in self.due.due(self.clock()):
            self.due.remove(minute, tasks)
            self.queue.put_all(task for task in tasks if not isinstance(task, OwnerNotice))
        return 0

    with mock.patch.object(DueTasks, "enqueue", enqueue):
        yield


@contextmanager
def circuit_opens_before_its_probe() -> Iterator[None]:
    """Nothing plans the first probe of an open circuit, and no event looks for it."""
    original = PostingPorts.schedule

    def schedule(self: PostingPorts, task: Any, wait: timedelta) -> None:
        if hasattr(task, "event_id") or wait > timedelta(seconds=7):
            original(self, task, wait)

    with (
        mock.patch.object(PostingPorts, "schedule", schedule),
        mock.patch.object(WebhookWorker, "_must_drain", return_value=False),
    ):
        yield


@contextmanager
def repetitions_by_the_clock() -> Iterator[None]:
    """A task that comes before the time in the record is a repetition, by another clock."""
    original = WebhookWorker._handle_event

    def handle(self: WebhookWorker, event: Any, *endpoint: Any) -> str:
        ports: PostingPorts = self._ports
        stored = ports.deliveries.peek(event.account_id, event.endpoint_id, event.delivery_id)
        soon = ports.clock() + timedelta(seconds=2)
        if stored and stored.next_at and stored.next_at > soon:
            return "repeated"
        return original(self, event, *endpoint)

    with mock.patch.object(WebhookWorker, "_handle_event", handle):
        yield


@contextmanager
def probes_without_a_margin() -> Iterator[None]:
    """A worker whose clock is behind refuses the task of a probe."""
    with mock.patch("pillarbox.application.webhooks.drain.CLOCK_MARGIN", timedelta(seconds=2)):
        yield


@contextmanager
def removed_before_posted() -> Iterator[None]:
    """A drain removes an event from those that wait before it posts the event."""
    original = Drains._post

    def post(self: Drains, endpoint: Any, health: Any, event: Any) -> AttemptResult:
        self._ports.waiting.remove(event)
        return original(self, endpoint, health, event)

    with mock.patch.object(Drains, "_post", post):
        yield


@contextmanager
def removes_what_another_put() -> Iterator[None]:
    """A drain that stalls removes the event after another worker let it wait again."""

    def remove(self: FakeWaitingEvents, event: Any) -> None:
        key = (event.account_id, event.endpoint_id), event.delivery_id
        if key in self.waiting and self.waiting[key][0].replayed_at == event.replayed_at:
            del self.waiting[key]

    with mock.patch.object(FakeWaitingEvents, "remove", remove):
        yield


@contextmanager
def drains_end_early() -> Iterator[None]:
    """A drain does not queue the task that follows."""

    def stop(self: Drains, endpoint: Any, _lease: Any) -> None:
        self._give_back(endpoint)

    with mock.patch.object(Drains, "_continue", stop):
        yield


@contextmanager
def drains_without_a_lease() -> Iterator[None]:
    """A drain begins while another worker drains the same endpoint."""
    original = Drains._refusal

    def refusal(self: Drains, *about: Any) -> str | None:
        found = original(self, *about)
        return None if found == "drained_by_another" else found

    with mock.patch.object(Drains, "_refusal", refusal):
        yield


@contextmanager
def recorded_before_posted() -> Iterator[None]:
    """A drain records a success before it posts the event, and its worker may die there."""
    original = Drains._post

    def post(self: Drains, endpoint: Any, health: Any, event: Any) -> AttemptResult:
        ports: PostingPorts = self._ports
        stored = ports.deliveries.get(event.account_id, event.endpoint_id, event.delivery_id)
        delivery = stored or WebhookDelivery(event=event, state=DeliveryState.WAITING)
        if delivery.state is not DeliveryState.WAITING:
            return original(self, endpoint, health, event)
        ports.deliveries.put(replace(delivery, state=DeliveryState.DELIVERED))
        return self._attempts.post(endpoint, health, delivery)

    with mock.patch.object(Drains, "_post", post):
        yield


@contextmanager
def forgets_the_next_task() -> Iterator[None]:
    """A drain ends well although the task that follows could not be queued."""
    original = Drains._continue

    def go_on(self: Drains, *about: Any) -> None:
        with suppress(ServiceError):
            original(self, *about)

    with mock.patch.object(Drains, "_continue", go_on):
        yield


KNOWN_BUGS = {
    bug.__name__: bug
    for bug in (
        recipients_share_an_event,
        erasures_are_announced,
        erased_while_waiting,
        replays_wait_before_their_record,
        each_time_another_id,
        recorded_before_scheduled,
        removed_before_queued,
        circuit_opens_before_its_probe,
        repetitions_by_the_clock,
        probes_without_a_margin,
        removed_before_posted,
        removes_what_another_put,
        drains_end_early,
        drains_without_a_lease,
        recorded_before_posted,
        forgets_the_next_task,
    )
}
