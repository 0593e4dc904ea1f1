"""The log of webhook deliveries, and the events that wait for their endpoints."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from heapq import merge
from itertools import islice
from operator import attrgetter, itemgetter
from typing import Any, Final
from uuid import UUID, uuid4

from pillarbox.adapters.aws import in_parallel
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import (
    NEW,
    ConditionFailed,
    Store,
    Table,
    to_item,
    to_ttl,
)
from pillarbox.adapters.rows import MILLISECONDS, Row, many, nested, one_of
from pillarbox.adapters.webhook_events import EVENT
from pillarbox.application.message_log import ScanPage
from pillarbox.application.ports import Clock
from pillarbox.domain.timing import milliseconds, to_datetime
from pillarbox.domain.webhooks.endpoint import (
    DeliveryAttempt,
    DeliveryState,
    WebhookDelivery,
    WebhookEvent,
)

_LOG_KEPT: Final = timedelta(days=30)
_WAITING_KEPT: Final = timedelta(days=7)
#: Lower than every id of a delivery.
_FIRST: Final = "0"
_ATTEMPT: Final = Row(
    DeliveryAttempt,
    "error?",
    at=("at", MILLISECONDS),
    status_code="code?",
    milliseconds="ms",
)
_DELIVERY: Final = Row(
    WebhookDelivery,
    state=("state", one_of(DeliveryState)),
    attempts=("attempts", many(nested(_ATTEMPT))),
    next_at=("next?", MILLISECONDS),
)


class DynamoWebhookDeliveries(Store):
    """Implements `webhooks.ports.WebhookDeliveries`."""

    def put(self, delivery: WebhookDelivery) -> None:
        """Write the record, in one write unit unless there are many long errors.

        A worker that stalled may come after the one that ended the delivery.
        """
        event = delivery.event
        tried = (attempt.at for attempt in delivery.attempts)
        last = max(event.at, event.replayed_at or event.at, *tried)
        attributes = EVENT.write(event) | _DELIVERY.write(delivery)
        item = keys.webhook_delivery(
            event.account_id, event.endpoint_id, event.delivery_id
        ) | to_item(attributes | {"expires_at": to_ttl(last + _LOG_KEPT)})
        if delivery.state is DeliveryState.DELIVERED:
            self._table.put(item)
            return
        condition = f"{NEW} OR #state = :waiting"
        values: dict[str, object] = {":waiting": DeliveryState.WAITING.value}
        if event.replayed_at:
            condition += " OR attribute_not_exists(replayed) OR replayed < :replayed"
            values[":replayed"] = milliseconds(event.replayed_at)
        with suppress(ConditionFailed):
            self._table.put(item, condition=condition, values=values)

    def get(self, account_id: str, endpoint_id: str, delivery_id: str) -> WebhookDelivery | None:
        item = self._table.get(keys.webhook_delivery(account_id, endpoint_id, delivery_id))
        return _delivery_of(item, account_id, endpoint_id) if item else None

    def peek(self, account_id: str, endpoint_id: str, delivery_id: str) -> WebhookDelivery | None:
        key = keys.webhook_delivery(account_id, endpoint_id, delivery_id)
        item = self._table.get(key, consistent=False)
        return _delivery_of(item, account_id, endpoint_id) if item else None

    def newest_first(
        self, account_id: str, endpoint_id: str, limit: int, cursor: str | None
    ) -> ScanPage[WebhookDelivery]:
        last = cursor or str(keys.LATEST)

        def read_shard(shard: int) -> list[dict[str, Any]]:
            return [
                *self._table.query(
                    keys.in_log(account_id, endpoint_id, shard, _FIRST),
                    keys.in_log(account_id, endpoint_id, shard, last),
                    newest_first=True,
                    limit=limit + 1,
                )
            ]

        shards = in_parallel(read_shard, range(keys.ENDPOINT_SHARDS))
        items = merge(*shards, key=itemgetter("sk"), reverse=True)
        before = list(islice((item for item in items if item["sk"] != cursor), limit))
        deliveries = [_delivery_of(item, account_id, endpoint_id) for item in before]
        return ScanPage(deliveries, before[-1]["sk"] if len(before) == limit else None)


class DynamoWaitingEvents:
    """Implements `webhooks.ports.WaitingEvents`."""

    def __init__(self, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def put(self, event: WebhookEvent) -> None:
        """Put the event, which keeps its place in the order of time."""
        self._table.put(
            keys.waiting_event(event.account_id, event.endpoint_id, event.delivery_id)
            | to_item(
                EVENT.write(event)
                | {
                    "expires_at": int((self._clock() + _WAITING_KEPT).timestamp()),
                    "token": uuid4().hex,
                }
            )
        )

    def oldest(self, account_id: str, endpoint_id: str, limit: int) -> Sequence[WebhookEvent]:
        """Read the first events of each shard, except those that DynamoDB will delete.

        Those that cannot be read, such as ones of a newer version, are left out.
        """
        now = self._clock().timestamp()
        unread: list[Exception] = []

        def read(item: Mapping[str, Any]) -> WebhookEvent | None:
            try:
                return replace(event_of(item, account_id, endpoint_id), token=item["token"])
            except (KeyError, TypeError, ValueError) as error:
                unread.append(error)
                return None

        def read_shard(shard: int) -> list[WebhookEvent]:
            first = keys.among_waiting(account_id, endpoint_id, shard)
            items = self._table.query(first, page=limit)
            events = map(read, (item for item in items if item["expires_at"] > now))
            return list(islice(filter(None, events), limit))

        shards = in_parallel(read_shard, range(keys.ENDPOINT_SHARDS))
        oldest = list(islice(merge(*shards, key=attrgetter("delivery_id")), limit))
        if unread and not oldest:
            raise unread[0]
        return oldest

    def remove(self, event: WebhookEvent) -> None:
        key = keys.waiting_event(event.account_id, event.endpoint_id, event.delivery_id)
        with suppress(ConditionFailed):
            self._table.delete(key, condition="#token = :token", values={":token": event.token})


def event_of(item: Mapping[str, Any], account_id: str, endpoint_id: str) -> WebhookEvent:
    """Read an event from an item whose sort key is the id of its delivery."""
    moment, _, event_id = item["sk"].partition("-")
    return EVENT.read(
        item,
        event_id=UUID(event_id),
        account_id=account_id,
        endpoint_id=endpoint_id,
        at=to_datetime(int(moment)),
    )


def _delivery_of(item: Mapping[str, Any], account_id: str, endpoint_id: str) -> WebhookDelivery:
    return _DELIVERY.read(item, event=event_of(item, account_id, endpoint_id))
