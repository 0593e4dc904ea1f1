"""Announce what happens in accounts to their webhook endpoints."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.history.aggregate import StreamResult
from pillarbox.application.ports import Clock
from pillarbox.application.webhooks.ports import WebhookEndpoints, WebhookQueue
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.webhook import WebhookEndpoint, WebhookEvent
from pillarbox.domain.webhook_events import AccountEvent, receives

#: A new endpoint receives events after so long at the latest.
CACHED: Final = timedelta(seconds=30)
_MAX_ACCOUNTS: Final = 10_000


class Announcement[Record]:
    """Queues the events in batches of the table's stream, for each endpoint that receives them.

    Args:
        account_of: returns the account of a record's change.
        read: returns the events that a record adds.
        endpoints: the endpoints.
        queue: the queue.
        clock: the clock.
    """

    def __init__(
        self,
        *,
        account_of: Callable[[Record], str],
        read: Callable[[Record], Sequence[AccountEvent]],
        endpoints: WebhookEndpoints,
        queue: WebhookQueue,
        clock: Clock,
    ) -> None:
        self._account_of = account_of
        self._read = read
        self._endpoints = endpoints
        self._queue = queue
        self._clock = clock
        self._cache: dict[str, tuple[datetime, Sequence[WebhookEndpoint]]] = {}

    def apply(self, records: Sequence[Record]) -> StreamResult:
        """Queue the events of a batch. The batch may be repeated: an event keeps its id.

        A record is reported and left out if it or its account's endpoints cannot be read, because
        a retry would not help. ValueErrors, KeyErrors and TypeErrors say so.
        """
        errors: list[Exception] = []
        events: list[WebhookEvent] = []
        try:
            for record in records:
                events += self._events(record, errors)
            if events:
                self._queue.put_all(events)
        except ServiceError as error:
            return StreamResult(0, [*errors, error])
        return StreamResult(None, errors)

    def _events(self, record: Record, errors: list[Exception]) -> list[WebhookEvent]:
        """Return the events for endpoints; most accounts have none, so look there first."""
        try:
            endpoints = self._endpoints_of(self._account_of(record))
            found = self._read(record) if endpoints else ()
        except (KeyError, TypeError, ValueError) as error:
            errors.append(error)
            return []
        return [
            event.for_endpoint(endpoint.endpoint_id)
            for event in found
            for endpoint in endpoints
            if receives(endpoint, event.type)
        ]

    def _endpoints_of(self, account_id: str) -> Sequence[WebhookEndpoint]:
        """Return the enabled endpoints of an account, as they were up to 30 seconds ago."""
        now = self._clock()
        cached = self._cache.get(account_id)
        if cached is not None and now < cached[0]:
            return cached[1]
        if len(self._cache) >= _MAX_ACCOUNTS:
            self._cache.clear()
        endpoints = [each for each in self._endpoints.of_account(account_id) if each.enabled]
        self._cache[account_id] = now + CACHED, endpoints
        return endpoints
