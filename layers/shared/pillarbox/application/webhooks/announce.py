"""Announce what happens in accounts to their webhook endpoints."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.ports import Clock
from pillarbox.application.stream_result import StreamResult
from pillarbox.application.webhooks.ports import WebhookEndpoints, WebhookQueue
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.webhooks.endpoint import WebhookEndpoint, WebhookEvent
from pillarbox.domain.webhooks.events import AccountEvent, receives

#: For so long a record that cannot be read may stop those behind it. Most rollouts take less time.
_READ_AGAIN_FOR: Final = timedelta(minutes=15)

type _EndpointsOf = dict[str, Sequence[WebhookEndpoint]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement[Record]:
    """Queues the events in batches of the table's stream, for each endpoint that receives them.

    The stream delivers a change after it was written. So the endpoints that are read after the
    delivery are those that existed at the change, and perhaps newer ones: an endpoint misses
    nothing that is recorded after its creation. No clock takes part in this.
    """

    #: Returns the account of a record's change.
    account_of: Callable[[Record], str]
    #: Returns the events that a record adds.
    read: Callable[[Record], Sequence[AccountEvent]]
    #: Returns when a record's change was written, or None.
    written_at: Callable[[Record], datetime | None]
    #: The endpoints, read with strong consistency.
    endpoints: WebhookEndpoints
    queue: WebhookQueue
    clock: Clock

    def apply(self, records: Sequence[Record]) -> StreamResult:
        """Queue the events of a batch. The batch may be repeated: an event keeps its id.

        The endpoints of an account are read once for a batch, if it has an event of the account.

        A record is reported if it or its account's endpoints cannot be read: ValueErrors, KeyErrors
        and TypeErrors say so. A record that was written just now may be one of a newer version
        that is being rolled out, so the batch comes again. Otherwise the record is left out.
        """
        errors: list[Exception] = []
        events: list[WebhookEvent] = []
        endpoints: _EndpointsOf = {}
        retry_from: int | None = None
        try:
            for position, record in enumerate(records):
                try:
                    found = self.read(record)
                except (KeyError, TypeError, ValueError) as error:
                    errors.append(error)
                    if retry_from is None and self._is_recent(record):
                        retry_from = position
                    continue
                events += self._events(record, found, endpoints, errors)
            if events:
                self.queue.put_all(events)
        except ServiceError as error:
            return StreamResult(0, [*errors, error])
        return StreamResult(retry_from, errors)

    def _is_recent(self, record: Record) -> bool:
        written_at = self.written_at(record)
        return written_at is not None and self.clock() < written_at + _READ_AGAIN_FOR

    def _events(
        self,
        record: Record,
        found: Sequence[AccountEvent],
        endpoints: _EndpointsOf,
        errors: list[Exception],
    ) -> list[WebhookEvent]:
        """Return the events for endpoints; `endpoints` has those that the batch read before."""
        try:
            account_id = self.account_of(record)
            if found and account_id not in endpoints:
                read = self.endpoints.of_account(account_id)
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
