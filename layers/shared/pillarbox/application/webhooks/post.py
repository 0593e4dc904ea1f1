"""Post events to webhook endpoints: those that come from the queue, several at the same time."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final

from pillarbox.application.webhooks.attempts import (
    AttemptResult,
    Attempts,
    PostingPorts,
    drain_of,
    events_wait,
    is_replayed,
)
from pillarbox.application.webhooks.drain import DRAIN_LATE, Drains
from pillarbox.application.webhooks.ports import Parallel
from pillarbox.domain.accounts.alert import AlertPost
from pillarbox.domain.webhooks.endpoint import (
    DeliveryState,
    EndpointDrain,
    EndpointHealth,
    PostingTask,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
    WebhookType,
    is_enabled,
)

#: The endpoints of an account that has so many slow POSTs in a batch are slow.
_SLOW_POSTS: Final = 5
#: How often the worker looks for them.
_LOOKS: Final = timedelta(seconds=0.25)
#: After so long without a due probe its task is replaced.
_PROBE_OVERDUE: Final = timedelta(minutes=1)

type _Endpoint = tuple[WebhookEndpoint, EndpointHealth] | None


class WebhookWorker:
    """Handles batches of the queue.

    Args:
        ports: the ports.
        parallel: makes calls at the same time.
    """

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
