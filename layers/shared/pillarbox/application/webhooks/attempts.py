"""One attempt to post an event: its payload, its signatures, and what its result means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final
from uuid import UUID

from pillarbox.application.ports import Clock, Messages
from pillarbox.application.receiving_ports import ReadMail
from pillarbox.application.webhooks.ports import (
    AwsPoster,
    DueTimes,
    EndpointHealths,
    PayloadWriter,
    PostResult,
    SuppressionLookup,
    WaitingEvents,
    WebhookDeliveries,
    WebhookEndpoints,
    WebhookPoster,
    WebhookQueue,
)
from pillarbox.domain.accounts.alert import AlertPost
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.webhooks.endpoint import (
    DeliveryAttempt,
    DeliveryState,
    EndpointDrain,
    EndpointHealth,
    OwnerNotice,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
    WebhookFormat,
    WebhookTask,
    WebhookType,
    signed_headers,
)
from pillarbox.domain.webhooks.events import find_erased, find_event
from pillarbox.domain.webhooks.retries import (
    after_failure,
    after_success,
    must_wait,
    probe_wait,
    retry_wait,
)

#: What the names of the signature's headers also begin with, in a format.
_HEADERS: Final = {WebhookFormat.RESEND: ("svix",)}
#: In octets, of a payload on a bus, whose events have at most 256 KB with their envelope
#: (docs.aws.amazon.com/eventbridge, "Calculating PutEvents event entry size").
_MAX_OF_BUS: Final = 256 * 1024 - 512
#: To so many octets the texts of a mail are cut until its payload is short enough.
_SHORTER: Final = (64 * 1024, 8 * 1024, 0)
#: SQS hides a message for at most 15 minutes. The timer has longer waits.
_MAX_DELAY: Final = timedelta(minutes=15)
#: A POST that runs for so long is slow.
_PATIENCE: Final = timedelta(seconds=1)
#: Longer than a worker runs. So a notice is due after the health that it is about was written.
NOTICE_DELAY: Final = timedelta(minutes=2)
#: How often a change of the health is tried again that met another one.
_TRIES: Final = 20


@dataclass(frozen=True, kw_only=True)
class PostingPorts:
    """Everything that posting needs.

    `random` returns a number from 0 to 1.
    """

    endpoints: WebhookEndpoints
    healths: EndpointHealths
    deliveries: WebhookDeliveries
    waiting: WaitingEvents
    queue: WebhookQueue
    due: DueTimes
    messages: Messages
    suppressions: SuppressionLookup
    #: Returns a received mail, as it is now; None if it is not there any more.
    find_received: Callable[[str, UUID], ReadMail | None]
    poster: WebhookPoster
    #: Called for endpoints in AWS alone, because it takes long to load.
    aws_poster: Callable[[], AwsPoster]
    payloads: Mapping[WebhookFormat, PayloadWriter]
    #: Posts an alert to a chat, and returns the outcome.
    post_alert: Callable[[AlertPost], str]
    clock: Clock
    random: Callable[[], float]

    def change_health(
        self,
        endpoint: WebhookEndpoint,
        change: Callable[[EndpointHealth], EndpointHealth],
    ) -> EndpointHealth:
        """Change the health of an endpoint, and return the new one.

        `change` is called again with a newer health if another worker was faster.
        """
        key = (endpoint.account_id, endpoint.endpoint_id)
        for _ in range(_TRIES):
            old = self.healths.get(*key)
            new = change(old)
            if new == old or self.healths.replace(*key, old, new):
                return new
        raise Unavailable("data store", "The endpoint's health changes too often.")

    def schedule(self, task: WebhookTask, wait: timedelta) -> None:
        """Queue a task again after a wait: hidden in the queue, or in the timer."""
        if wait <= _MAX_DELAY:
            self.queue.put_all([task], wait)
        else:
            self.due.put(task, self.clock() + wait)


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of an attempt: the outcome for the log, and the record of the delivery.

    `took` is None if nothing was posted.
    """

    outcome: str
    delivery: WebhookDelivery
    took: timedelta | None = None
    retry_after: timedelta | None = None


class Attempts:
    """Posts events and records the results, in an order in which a crash loses nothing.

    First comes what will try the event again, then the record, and then the event leaves the
    queue. So a crash may repeat an event, but cannot lose one.
    """

    def __init__(self, ports: PostingPorts) -> None:
        self._ports = ports
        #: When the POSTs that run now began, by the id of the delivery.
        self._running: dict[str, datetime] = {}

    def is_slow(self, event: WebhookEvent) -> bool:
        """Return whether the POST of an event has run for long; other calls do not count."""
        started = self._running.get(event.delivery_id)
        return started is not None and self._ports.clock() - started >= _PATIENCE

    def post(
        self, endpoint: WebhookEndpoint, health: EndpointHealth, delivery: WebhookDelivery
    ) -> AttemptResult:
        """Post an event once and record a success; `health` is what the caller read.

        Of a failure nothing is recorded yet: see `retry` and `fail_probe`.
        """
        ports, event = self._ports, delivery.event
        body = self._payload(event, endpoint)
        if body is None:
            nameless = replace(event, address=None)  # the person may have been erased
            gone = replace(delivery, event=nameless, state=DeliveryState.FAILED, next_at=None)
            ports.deliveries.put(gone)
            return AttemptResult("record_gone", gone)
        started = ports.clock()
        self._running[event.delivery_id] = started
        try:
            result = self._send(endpoint, event, body)
        finally:
            self._running.pop(event.delivery_id, None)
        took = ports.clock() - started
        attempt = DeliveryAttempt(
            at=started,
            status_code=result.status_code,
            milliseconds=took // timedelta(milliseconds=1),
            error=_error(result),
        )
        posted = replace(delivery, attempts=(*delivery.attempts, attempt), next_at=None)
        if not _is_success(result):
            return AttemptResult("failed", posted, took, result.retry_after)
        delivered = replace(posted, state=DeliveryState.DELIVERED)
        ports.deliveries.put(delivered)
        self._note_success(endpoint, health)
        return AttemptResult("delivered", delivered, took)

    def _send(self, endpoint: WebhookEndpoint, event: WebhookEvent, body: bytes) -> PostResult:
        if endpoint.role_arn is not None:
            return self._ports.aws_poster().put(endpoint, event, body)
        headers = signed_headers(
            event.event_id,
            body,
            endpoint.secrets,
            self._ports.clock(),
            *_HEADERS.get(endpoint.format, ()),
        )
        return self._ports.poster.post(endpoint.url, headers, body)

    def retry(self, endpoint: WebhookEndpoint, failed: AttemptResult) -> AttemptResult:
        """Note a failure, and have the event tried again: on the schedule, or when a drain does.

        The outcome `waiting` says that the event waits for a drain.
        """
        ports, delivery = self._ports, failed.delivery
        health = self.note_failure(endpoint, failed)
        wait = retry_wait(len(delivery.attempts), ports.random(), failed.retry_after)
        if wait is None:
            return self.give_up(failed)
        if health.disabled_at is not None or health.open_since is not None:
            return replace(failed, outcome="waiting")
        ports.schedule(replace(delivery.event, attempts=len(delivery.attempts)), wait)
        again = replace(delivery, next_at=ports.clock() + wait)
        ports.deliveries.put(again)
        return replace(failed, outcome="retry", delivery=again)

    def fail_probe(self, endpoint: WebhookEndpoint, failed: AttemptResult) -> AttemptResult:
        """Note a failed probe, and plan the next one."""
        ports = self._ports
        health = self.note_failure(endpoint, failed)
        if health.disabled_at is None:
            self._plan_probe(endpoint, health.probes + 1, failed.retry_after)
        if retry_wait(len(failed.delivery.attempts), 0) is None:
            return self.give_up(failed)
        ports.deliveries.put(failed.delivery)
        return replace(failed, outcome="waiting")

    def note_failure(self, endpoint: WebhookEndpoint, failed: AttemptResult) -> EndpointHealth:
        """Count a failure.

        The probe is planned before the circuit opens, and the notice to the owner before the
        health says that there is one.
        """
        ports, attempts = self._ports, failed.delivery.attempts
        is_first, is_gone = len(attempts) == 1, attempts[-1].status_code == HTTPStatus.GONE

        def change(health: EndpointHealth) -> EndpointHealth:
            now = ports.clock()
            changed = after_failure(health, now, is_first=is_first)
            if is_gone and changed.disabled_at is None:
                changed = replace(changed, disabled_at=now, disabled_for="gone")
            if changed.open_since is not None and health.open_since is None:
                wait = probe_wait(0, ports.random())
                ports.schedule(drain_of(endpoint), wait)
                changed = replace(changed, probe_at=now + wait)
            for before, after in (
                (health.warned_at, changed.warned_at),
                (health.disabled_at, changed.disabled_at),
            ):
                if after is not None and after != before:
                    notice = OwnerNotice(endpoint.account_id, endpoint.endpoint_id, after)
                    ports.due.put(notice, now + NOTICE_DELAY)
            return changed

        return ports.change_health(endpoint, change)

    def _plan_probe(
        self, endpoint: WebhookEndpoint, probes: int, retry_after: timedelta | None
    ) -> None:
        """Plan the next probe and give the lease back; if the circuit is closed, drain now."""
        ports = self._ports
        wait = probe_wait(probes, ports.random(), retry_after)
        ports.schedule(drain_of(endpoint), wait)
        probe_at = ports.clock() + wait

        def change(health: EndpointHealth) -> EndpointHealth:
            if health.open_since is None:
                return replace(health, drain_until=None)
            return replace(health, probes=probes, probe_at=probe_at, drain_until=None)

        if ports.change_health(endpoint, change).open_since is None:
            ports.queue.put_all([drain_of(endpoint)])

    def _note_success(self, endpoint: WebhookEndpoint, seen: EndpointHealth) -> None:
        """End a row of failures. If that closes the circuit, something drains what waits."""
        if after_success(seen) == seen:
            return

        def change(health: EndpointHealth) -> EndpointHealth:
            if health.open_since is not None and health.drain_until is None:
                self._ports.queue.put_all([drain_of(endpoint)])
            return after_success(health)

        self._ports.change_health(endpoint, change)

    def give_up(self, failed: AttemptResult) -> AttemptResult:
        """Record that no attempt follows."""
        last = replace(failed.delivery, state=DeliveryState.FAILED)
        self._ports.deliveries.put(last)
        return replace(failed, outcome="given_up", delivery=last)

    def _payload(self, event: WebhookEvent, endpoint: WebhookEndpoint) -> bytes | None:
        """Return the payload from the records as they are now, or None if they are gone."""
        ports = self._ports
        payloads = ports.payloads[endpoint.format]
        if event.type is WebhookType.SUPPRESSION_ADDED:
            suppression = ports.suppressions.get(event.account_id, event.address or "")
            return payloads.suppression(event, suppression) if suppression else None
        if event.message_id is None:
            return payloads.plain(event)
        if event.type is WebhookType.EMAIL_RECEIVED:
            received = ports.find_received(event.account_id, event.message_id)
            if received is None:
                return None
            body = payloads.received(event, received)
            for most in _SHORTER if endpoint.is_bus else ():
                if len(body) > _MAX_OF_BUS:
                    body = payloads.received(event, received.within(most))
            return body
        for read in (ports.messages.peek, ports.messages.get):
            message = read(event.account_id, event.message_id)
            found = find_event(message, event) if message else None
            if message is not None and found is not None:
                return payloads.email(found, message)
        erased = find_erased(message, event) if message else None
        return payloads.email(erased, message) if message and erased else None


def events_wait(endpoint: WebhookEndpoint, health: EndpointHealth) -> bool:
    """Return whether the events of an endpoint wait, and are not posted as they come."""
    return not endpoint.enabled or must_wait(health)


def is_replayed(event: WebhookEvent, delivery: WebhookDelivery) -> bool:
    """Return whether an event starts over, with new attempts, because somebody asked for it."""
    return not event.attempts and event.replayed_at not in {None, delivery.event.replayed_at}


def drain_of(endpoint: WebhookEndpoint) -> EndpointDrain:
    return EndpointDrain(endpoint.account_id, endpoint.endpoint_id)


def _is_success(result: PostResult) -> bool:
    return _is_within(result, HTTPStatus.OK)


def _is_within(result: PostResult, first: int) -> bool:
    """Return whether the status code is one of the hundred from `first` on."""
    return result.status_code is not None and first <= result.status_code < first + 100


def _error(result: PostResult) -> str | None:
    """Return why an attempt failed, in words for the owner of the endpoint."""
    if _is_success(result):
        return None
    if _is_within(result, HTTPStatus.MULTIPLE_CHOICES):
        return "a redirect, which is not followed"
    return result.error or result.body or None
