"""Announce what happens in accounts to their webhook endpoints."""

from collections.abc import Callable, Sequence

from pillarbox.application.stream_result import StreamResult
from pillarbox.application.webhooks.ports import WebhookEndpoints, WebhookQueue
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.webhooks.endpoint import WebhookEndpoint, WebhookEvent
from pillarbox.domain.webhooks.events import AccountEvent, receives

type _EndpointsOf = dict[str, Sequence[WebhookEndpoint]]


class Announcement[Record]:
    """Queues the events in batches of the table's stream, for each endpoint that receives them.

    The stream delivers a change after it was written. So the endpoints that are read after the
    delivery are those that existed at the change, and perhaps newer ones: an endpoint misses
    nothing that is recorded after its creation. No clock takes part in this.

    Args:
        account_of: returns the account of a record's change.
        read: returns the events that a record adds.
        endpoints: the endpoints, read with strong consistency.
        queue: the queue.
    """

    def __init__(
        self,
        *,
        account_of: Callable[[Record], str],
        read: Callable[[Record], Sequence[AccountEvent]],
        endpoints: WebhookEndpoints,
        queue: WebhookQueue,
    ) -> None:
        self._account_of = account_of
        self._read = read
        self._endpoints = endpoints
        self._queue = queue

    def apply(self, records: Sequence[Record]) -> StreamResult:
        """Queue the events of a batch. The batch may be repeated: an event keeps its id.

        The endpoints of an account are read once for a batch, if it has an event of the account.

        A record is reported and left out if it or its account's endpoints cannot be read, because
        a retry would not help. ValueErrors, KeyErrors and TypeErrors say so.
        """
        errors: list[Exception] = []
        events: list[WebhookEvent] = []
        endpoints: _EndpointsOf = {}
        try:
            for record in records:
                events += self._events(record, endpoints, errors)
            if events:
                self._queue.put_all(events)
        except ServiceError as error:
            return StreamResult(0, [*errors, error])
        return StreamResult(None, errors)

    def _events(
        self, record: Record, endpoints: _EndpointsOf, errors: list[Exception]
    ) -> list[WebhookEvent]:
        """Return the events for endpoints; `endpoints` has those that the batch read before."""
        try:
            account_id, found = self._account_of(record), self._read(record)
            if found and account_id not in endpoints:
                read = self._endpoints.of_account(account_id)
                endpoints[account_id] = [each for each in read if each.enabled]
        except (KeyError, TypeError, ValueError) as error:
            errors.append(error)
            return []
        return [
            event.for_endpoint(endpoint.endpoint_id)
            for event in found
            for endpoint in endpoints[account_id]
            if receives(endpoint, event.type)
        ]
