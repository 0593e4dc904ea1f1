"""Post events to webhook endpoints: those that come from the queue, and those that wait.

One task at a time drains an endpoint. It has a lease, and passes it on to the task that follows.
While the circuit is open, the task is the probe: it posts the oldest event alone.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from pillarbox.application.webhooks.attempts import (
    NOTICE_DELAY,
    AttemptResult,
    Attempts,
    PostingPorts,
    drain_of,
    events_wait,
    is_replayed,
)
from pillarbox.application.webhooks.ports import Parallel
from pillarbox.domain.accounts.alert import AlertPost
from pillarbox.domain.timing import CLOCK_MARGIN
from pillarbox.domain.webhooks.endpoint import (
    DeliveryState,
    EndpointDrain,
    EndpointHealth,
    OwnerNotice,
    PostingTask,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
    WebhookType,
    is_enabled,
)

#: A step posts so many events at the same time, and after each one without a failure twice as
#: many, up to so many times. A worker that has several drains shares the most among them.
_AT_A_TIME: Final = 5
_DOUBLINGS: Final = 5
_MOST: Final = _AT_A_TIME << _DOUBLINGS
#: Of received mail, whose payloads have megabytes, so few: a worker has 512 MB.
_MOST_RECEIVED: Final = 16
#: Longer than a worker runs, by the clock of another one, and shorter than the queue hides the
#: task of a dead worker. The random part makes each lease another one.
LEASE: Final = timedelta(seconds=60) + CLOCK_MARGIN
_RANDOM_LEASE: Final = timedelta(seconds=10)
#: Posts that take no longer do not make an endpoint slow.
_QUICK: Final = timedelta(seconds=1)
#: A slow endpoint whose drain has not begun after so long gets another one.
DRAIN_LATE: Final = timedelta(seconds=5)
#: Owners get an alert when an endpoint has been slow and its oldest event waited for so long.
_EVENTS_LATE: Final = timedelta(hours=1)


class Drains:
    """Runs the tasks that drain endpoints."""

    def __init__(self, ports: PostingPorts, attempts: Attempts, parallel: Parallel) -> None:
        self._ports = ports
        self._attempts = attempts
        self._parallel = parallel

    def begin_slow(self, endpoint: WebhookEndpoint) -> None:
        """Let the events of a slow endpoint wait, so that it does not occupy all workers.

        Two drains are queued. The first is delayed and comes before the change, so that one exists
        if the change or the second one fails. The second one comes at once.
        """
        ports = self._ports
        now = ports.clock()
        health = ports.healths.get(endpoint.account_id, endpoint.endpoint_id)
        if health.slow_since is not None:
            return
        ports.queue.put_all([drain_of(endpoint)], DRAIN_LATE)
        ports.change_health(
            endpoint, lambda health: replace(health, slow_since=health.slow_since or now)
        )
        ports.queue.put_all([drain_of(endpoint)])

    def run(self, task: EndpointDrain, endpoint: WebhookEndpoint, drains: int = 1) -> str:
        """Post the next events that wait, and queue the task that follows.

        Args:
            drains: how many tasks to drain an endpoint this worker handles at the same time.
        """
        ports = self._ports
        lease = ports.clock() + LEASE + _RANDOM_LEASE * ports.random()
        lease = lease.replace(microsecond=lease.microsecond // 1000 * 1000)
        refusal: str | None = None

        def acquire(health: EndpointHealth) -> EndpointHealth:
            nonlocal refusal
            refusal = self._refusal(task, endpoint, health)
            return health if refusal else replace(health, drain_until=lease)

        health = ports.change_health(endpoint, acquire)
        if refusal is not None:
            if task.lease is not None and health.drain_until == task.lease:
                self._give_back(endpoint)
            return refusal
        if health.open_since is not None:
            return self._probe(endpoint, health, lease)
        return self._drain(endpoint, health, replace(task, lease=lease), drains)

    def _refusal(
        self, task: EndpointDrain, endpoint: WebhookEndpoint, health: EndpointHealth
    ) -> str | None:
        """Return why a task must not post, or None if it may."""
        now = self._ports.clock()
        if not is_enabled(endpoint, health):
            return "endpoint_disabled"
        if health.drain_until not in {None, task.lease} and now < (health.drain_until or now):
            return "drained_by_another"
        # Another worker planned the probe. If its task were refused, none would follow.
        if health.open_since and health.probe_at and now < health.probe_at - CLOCK_MARGIN:
            return "before_probe"
        return None

    def _probe(self, endpoint: WebhookEndpoint, health: EndpointHealth, lease: datetime) -> str:
        """Post the oldest event; a success closes the circuit."""
        ports = self._ports
        events = ports.waiting.oldest(endpoint.account_id, endpoint.endpoint_id, 1)
        if not events:  # nothing is lost if the next event finds out whether the endpoint works
            return self._end(endpoint, closes=True)
        result = self._post(endpoint, health, events[0])
        if result.delivery.state is DeliveryState.WAITING:
            result = self._attempts.fail_probe(endpoint, result)
            if result.delivery.state is not DeliveryState.WAITING:
                ports.waiting.remove(events[0])
            return "probe_failed"
        ports.waiting.remove(events[0])
        self._continue(endpoint, replace(drain_of(endpoint), lease=lease))
        return "probed"

    def _drain(
        self, endpoint: WebhookEndpoint, health: EndpointHealth, task: EndpointDrain, drains: int
    ) -> str:
        """Post some events at the same time. Those that fail are tried again on the schedule."""
        ports = self._ports
        most = min(_AT_A_TIME << min(task.successes, _DOUBLINGS), _MOST // drains)
        events = ports.waiting.oldest(endpoint.account_id, endpoint.endpoint_id, most)
        if not events:
            return self._end(endpoint, closes=False)
        late = task.late or self._tell_if_late(endpoint, health, events[0])
        events = _fitting(events, max(1, _MOST_RECEIVED // drains))
        calls = [partial(self._drain_one, endpoint, health, event) for event in events]
        results = self._parallel(calls)
        for result in results:
            if isinstance(result, Exception):
                raise result
        is_quick = all(map(_is_quick, results))
        if health.slow_since is not None and is_quick:
            ports.change_health(endpoint, lambda health: replace(health, slow_since=None))
        successes = task.successes + 1 if all(map(_is_success, results)) else 0
        self._continue(endpoint, replace(task, successes=successes, late=late and not is_quick))
        return "drained"

    def _tell_if_late(
        self, endpoint: WebhookEndpoint, health: EndpointHealth, oldest: WebhookEvent
    ) -> bool:
        """Plan a notice to the owner if a slow endpoint does not keep up; return whether."""
        if health.slow_since is None:
            return False
        now = self._ports.clock()
        if max(health.slow_since, oldest.replayed_at or oldest.at) > now - _EVENTS_LATE:
            return False
        notice = OwnerNotice(endpoint.account_id, endpoint.endpoint_id, health.slow_since)
        self._ports.due.put(notice, now + NOTICE_DELAY)
        return True

    def _continue(self, endpoint: WebhookEndpoint, following: EndpointDrain) -> None:
        """Queue the task that follows: at once, or as the next probe if the circuit opened."""
        ports = self._ports
        health = ports.healths.get(endpoint.account_id, endpoint.endpoint_id)
        if health.open_since is None:
            ports.queue.put_all([following])
        else:
            self._give_back(endpoint)

    def _give_back(self, endpoint: WebhookEndpoint) -> None:
        """Give the lease back. A probe that came in between was refused, so plan it again."""
        ports = self._ports

        def change(health: EndpointHealth) -> EndpointHealth:
            if health.open_since is not None and health.disabled_at is None:
                wait = (health.probe_at or ports.clock()) - ports.clock()
                ports.schedule(drain_of(endpoint), max(wait, timedelta(0)))
            return replace(health, drain_until=None)

        ports.change_health(endpoint, change)

    def _drain_one(
        self, endpoint: WebhookEndpoint, health: EndpointHealth, event: WebhookEvent
    ) -> AttemptResult:
        result = self._post(endpoint, health, event)
        if result.delivery.state is DeliveryState.WAITING:
            result = self._attempts.retry(endpoint, result)
            if result.outcome == "waiting":  # the circuit opened, and a probe is planned
                self._ports.deliveries.put(result.delivery)
                return result
        self._ports.waiting.remove(event)
        return result

    def _post(
        self, endpoint: WebhookEndpoint, health: EndpointHealth, event: WebhookEvent
    ) -> AttemptResult:
        """Post an event, unless an earlier try was its last."""
        stored = self._ports.deliveries.get(event.account_id, event.endpoint_id, event.delivery_id)
        if stored and is_replayed(event, stored):
            stored = None
        delivery = stored or WebhookDelivery(event=event, state=DeliveryState.WAITING)
        if delivery.state is not DeliveryState.WAITING:
            return AttemptResult("repeated", delivery)
        return self._attempts.post(endpoint, health, delivery)

    def _end(self, endpoint: WebhookEndpoint, *, closes: bool) -> str:
        """Give the lease back, and look again for events that came in between.

        Who stored such an event saw that a drain was running, and left it to this drain.
        """
        ports = self._ports

        def change(health: EndpointHealth) -> EndpointHealth:
            ended = replace(health, drain_until=None, slow_since=None)
            return replace(ended, open_since=None, probe_at=None, probes=0) if closes else ended

        ports.change_health(endpoint, change)
        if ports.waiting.oldest(endpoint.account_id, endpoint.endpoint_id, 1):
            ports.queue.put_all([drain_of(endpoint)])
        return "drain_ended"


def _fitting(events: Sequence[WebhookEvent], most: int) -> Sequence[WebhookEvent]:
    """Return the events before the one that would be too many of received mail."""
    received = [at for at, one in enumerate(events) if one.type is WebhookType.EMAIL_RECEIVED]
    return events[: received[most]] if received[most:] else events


def _is_success(result: AttemptResult | Exception) -> bool:
    """Return whether the endpoint accepted what was posted, if anything was."""
    return isinstance(result, AttemptResult) and (
        result.took is None or result.delivery.state is DeliveryState.DELIVERED
    )


def _is_quick(result: AttemptResult | Exception) -> bool:
    return isinstance(result, AttemptResult) and (result.took or timedelta(0)) < _QUICK


#: The endpoints of an account that has so many slow POSTs in a batch are slow.
_SLOW_POSTS: Final = 5
#: How often the worker looks for them.
_LOOKS: Final = timedelta(seconds=0.25)
#: After so long without a due probe its task is replaced.
_PROBE_OVERDUE: Final = timedelta(minutes=1)

type _Endpoint = tuple[WebhookEndpoint, EndpointHealth] | None


class WebhookWorker:
    """Handles batches of the queue."""

    def __init__(self, ports: PostingPorts, parallel: Parallel) -> None:
        self._ports = ports
        self._parallel = parallel
        self._attempts = Attempts(ports)
        self._drains = Drains(ports, self._attempts, parallel)

    def handle(self, tasks: Sequence[PostingTask]) -> Sequence[str | Exception]:
        """Handle tasks at the same time; return the outcome or the error of each.

        A task with an error must be handled again, with all that it did before.
        """
        of_endpoints = (task for task in tasks if not isinstance(task, AlertPost))
        keys = list(dict.fromkeys((task.account_id, task.endpoint_id) for task in of_endpoints))
        read = self._parallel([partial(self._read, *key) for key in keys])
        endpoints = dict(zip(keys, read, strict=True))
        drains = sum(isinstance(task, EndpointDrain) for task in tasks)

        def handle_one(task: PostingTask) -> str:
            if isinstance(task, AlertPost):
                return self._ports.post_alert(task)
            found = endpoints[task.account_id, task.endpoint_id]
            if isinstance(found, Exception):
                raise found
            if found is None:
                return "endpoint_deleted"
            if isinstance(task, EndpointDrain):
                return self._drains.run(task, found[0], drains)
            return self._handle_event(task, *found)

        noted = set[tuple[str, str]]()

        def note_slow_endpoints(running: Sequence[int]) -> None:
            slow = [
                (task.account_id, task.endpoint_id)
                for task in (tasks[position] for position in running)
                if isinstance(task, WebhookEvent) and self._attempts.is_slow(task)
            ]
            posts = Counter(account_id for account_id, _ in slow)
            for key in dict.fromkeys(slow):
                found = endpoints[key]
                if posts[key[0]] < _SLOW_POSTS or key in noted or isinstance(found, Exception):
                    continue
                if found is not None:
                    self._drains.begin_slow(found[0])
                    noted.add(key)

        calls = [partial(handle_one, task) for task in tasks]
        return self._parallel(calls, _LOOKS, note_slow_endpoints)

    def _read(self, account_id: str, endpoint_id: str) -> _Endpoint:
        endpoint = self._ports.endpoints.get(account_id, endpoint_id)
        if endpoint is None:
            return None
        return endpoint, self._ports.healths.get(account_id, endpoint_id)

    def _handle_event(
        self, event: WebhookEvent, endpoint: WebhookEndpoint, health: EndpointHealth
    ) -> str:
        ports = self._ports
        # A copy of an event comes seconds later, so this read mostly sees the first one's record.
        stored = ports.deliveries.peek(event.account_id, event.endpoint_id, event.delivery_id)
        if stored and is_replayed(event, stored):
            stored = None
        delivery = stored or WebhookDelivery(
            event=replace(event, attempts=0), state=DeliveryState.WAITING
        )
        if _is_repeated(event, delivery):
            if delivery.state is not DeliveryState.WAITING or delivery.next_at is not None:
                return "repeated"
            # The worker that recorded that it waits may have died before it waited.
            return self._let_wait(endpoint, delivery, is_stored=True)
        if events_wait(endpoint, health) and event.type is not WebhookType.WEBHOOK_TEST:
            return self._let_wait(endpoint, delivery, is_stored=stored is not None)
        result = self._attempts.post(endpoint, health, delivery)
        if result.delivery.state is not DeliveryState.WAITING:
            return result.outcome
        return self._after_failure(endpoint, result)

    def _after_failure(self, endpoint: WebhookEndpoint, failed: AttemptResult) -> str:
        """Plan the next attempt. A test has one attempt, and says nothing about real events."""
        if failed.delivery.event.type is WebhookType.WEBHOOK_TEST:
            return self._attempts.give_up(failed).outcome
        result = self._attempts.retry(endpoint, failed)
        if result.outcome == "waiting":
            return self._let_wait(endpoint, result.delivery, is_stored=False)
        return result.outcome

    def _let_wait(
        self, endpoint: WebhookEndpoint, delivery: WebhookDelivery, *, is_stored: bool
    ) -> str:
        """Let an event wait for a drain.

        The record comes first: a drain reads it, and may record at once that it posted the event.
        A drain may have ended between reading the health and storing the event. So look again,
        and begin another drain if nothing would post the event.
        """
        ports, event = self._ports, delivery.event
        if not is_stored or delivery.next_at is not None:
            ports.deliveries.put(replace(delivery, next_at=None))
        ports.waiting.put(event)
        found = self._read(event.account_id, event.endpoint_id)
        if found is not None and self._must_drain(*found):
            ports.queue.put_all([drain_of(endpoint)])
        return "waiting"

    def _must_drain(self, endpoint: WebhookEndpoint, health: EndpointHealth) -> bool:
        if not is_enabled(endpoint, health):
            return False
        now = self._ports.clock()
        if health.open_since is not None:
            return health.probe_at is None or health.probe_at < now - _PROBE_OVERDUE
        is_drained = health.drain_until is not None and now < health.drain_until
        return not is_drained and (
            health.slow_since is None or health.slow_since < now - DRAIN_LATE
        )


def _is_repeated(event: WebhookEvent, delivery: WebhookDelivery) -> bool:
    """Return whether another task of the event ended it or will try it again.

    The task that tries it again has the number of attempts in the record. No clock takes part.
    """
    return delivery.state is not DeliveryState.WAITING or len(delivery.attempts) > event.attempts
