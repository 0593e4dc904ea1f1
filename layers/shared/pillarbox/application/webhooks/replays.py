"""Send events again that an endpoint missed, and tests."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final
from uuid import UUID

from pillarbox.application.message_log import MessageLog
from pillarbox.application.ports import Clock
from pillarbox.application.webhooks.endpoints import check_types, find_endpoint, webhooks_are_off
from pillarbox.application.webhooks.ports import WebhookDeliveries, WebhookEndpoints, WebhookQueue
from pillarbox.domain.accounts.quota import too_many, too_many_this_minute
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.ids import created_at
from pillarbox.domain.messages.message import ERASED_ADDRESS, Message
from pillarbox.domain.timing import milliseconds
from pillarbox.domain.webhooks.endpoint import (
    ALL_TYPES,
    TYPES_OF_EMAILS,
    ReplayRequest,
    WebhookEndpoint,
    WebhookEvent,
    is_delivery_id,
)
from pillarbox.domain.webhooks.events import events_of, receives, webhook_test

#: One replay by time reads and queues at most about so many messages and events, and no other of
#: the same endpoint begins within a minute. So a key cannot make the service read or post
#: without an end.
MAX_REPLAYED: Final = 10_000
REPLAY_PAUSE: Final = timedelta(minutes=1)
#: An account may ask for so many tests and replays of one delivery in a minute.
REQUESTS_A_MINUTE: Final = 60
#: The precision of the times of messages.
_MILLISECOND: Final = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """How many events were queued, and the end of the range that is left (None: nothing is)."""

    queued: int
    rest: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookReplays:
    """Queue tests and events of the past for an endpoint."""

    endpoints: WebhookEndpoints
    deliveries: WebhookDeliveries
    queue: WebhookQueue
    log: MessageLog
    clock: Clock
    #: As in `Webhooks`.
    switched_on: bool = True

    def test(self, account_id: str, endpoint_id: UUID) -> WebhookEvent:
        endpoint = self._endpoint(account_id, endpoint_id)
        self._count(account_id)
        event = webhook_test(account_id, self.clock()).for_endpoint(endpoint.endpoint_id)
        self.queue.put_all([event])
        return event

    def replay(self, account_id: str, endpoint_id: UUID, delivery_id: str) -> WebhookEvent:
        """Queue the event of one delivery again, with the same id. Its attempts start over."""
        self._endpoint(account_id, endpoint_id)
        delivery = None
        if is_delivery_id(delivery_id):
            delivery = self.deliveries.get(account_id, str(endpoint_id), delivery_id)
        if delivery is None:
            raise ServiceError("delivery_not_found", "The endpoint has no such delivery.")
        self._count(account_id)
        self.queue.put_all([replace(delivery.event, replayed_at=self.clock())])
        return delivery.event

    def replay_all(
        self, account_id: str, endpoint_id: UUID, request: ReplayRequest, shards: int | None = None
    ) -> ReplayResult:
        """Queue the events of a time range again, those of the newest messages first.

        It stops after `MAX_REPLAYED` messages or events. `rest` is then the `until` of the next
        request. The messages of one millisecond stay together, so that it leaves out none.

        Events of recipients who were erased are passed over.
        """
        endpoint = self._endpoint(account_id, endpoint_id)
        if request.types is not None:
            _check_email_types(request.types)
            endpoint = replace(endpoint, types=request.types)
        now = self._begin(endpoint)
        messages = self.log.newest_first(
            account_id, milliseconds(request.since), milliseconds(request.until), shards
        )
        events, rest = _newest_events(messages, endpoint)
        self.queue.put_all(replace(event, replayed_at=now) for event in events)
        return ReplayResult(queued=len(events), rest=rest)

    def _endpoint(self, account_id: str, endpoint_id: UUID) -> WebhookEndpoint:
        """Return the endpoint to which something is to be posted."""
        if not self.switched_on:
            raise webhooks_are_off()
        return find_endpoint(self.endpoints, account_id, endpoint_id)

    def _count(self, account_id: str) -> None:
        """Count a request of the account's limit, which has one window for all endpoints."""
        now = self.clock()
        if not self.endpoints.count_request(account_id, now, REQUESTS_A_MINUTE):
            message = (
                f"An account can have {REQUESTS_A_MINUTE} tests and replays of a delivery in a"
                " minute. Replay a time range instead."
            )
            raise too_many_this_minute(message, REQUESTS_A_MINUTE, now)

    def _begin(self, endpoint: WebhookEndpoint) -> datetime:
        """Note that a replay begins, and return the time."""
        now = self.clock()
        if not self.endpoints.begin_replay(
            endpoint.account_id, endpoint.endpoint_id, now, REPLAY_PAUSE
        ):
            seconds = round(REPLAY_PAUSE.total_seconds())
            message = f"An endpoint can have one replay by time in {seconds} seconds."
            raise too_many(message, 1, REPLAY_PAUSE)
        return now


def _check_email_types(types: frozenset[str]) -> None:
    errors = check_types("types", types)
    if others := sorted(types - {ALL_TYPES} - TYPES_OF_EMAILS):
        message = f"{others[0]} cannot be replayed by time: only sent emails keep their events"
        errors = errors or [FieldError("types", message, "not_allowed")]
    if errors:
        raise ValidationFailed(*errors)


def _newest_events(
    messages: Iterable[Message], endpoint: WebhookEndpoint
) -> tuple[list[WebhookEvent], datetime | None]:
    """Return events for an endpoint until there are enough, and the end of what is left."""
    events: list[WebhookEvent] = []
    read = 0
    # The log is read by the times in the ids.
    for moment, together in groupby(messages, lambda one: created_at(one.message_id)):
        if max(read, len(events)) >= MAX_REPLAYED:
            return events, moment + _MILLISECOND
        for message in together:
            read += 1
            events += (
                event.for_endpoint(endpoint.endpoint_id)
                for event in events_of(message)
                # Announced with the address, so under an id that the record cannot make any more.
                if event.recipient != ERASED_ADDRESS and receives(endpoint, event.type)
            )
    return events, None
