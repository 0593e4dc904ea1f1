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
    EXISTS,
    NEW,
    ConditionFailed,
    Table,
    to_item,
    to_ttl,
)
from pillarbox.application.message_log import ScanPage
from pillarbox.application.ports import Clock
from pillarbox.domain.timing import milliseconds, to_datetime
from pillarbox.domain.webhooks.endpoint import (
    DeliveryAttempt,
    DeliveryState,
    WebhookDelivery,
    WebhookEvent,
    WebhookType,
)

_LOG_KEPT: Final = timedelta(days=30)
_WAITING_KEPT: Final = timedelta(days=7)
#: Lower than every id of a delivery.
_FIRST: Final = "0"


class DynamoWebhookDeliveries:
    """Implements `webhooks.ports.WebhookDeliveries`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(self, delivery: WebhookDelivery) -> None:
        """Write the record, in one write unit unless there are many long errors.

        A worker that stalled may come after the one that ended the delivery.
        """
        event = delivery.event
        tried = (attempt.at for attempt in delivery.attempts)
        last = max(event.at, event.replayed_at or event.at, *tried)
        item = keys.webhook_delivery(
            event.account_id, event.endpoint_id, event.delivery_id
        ) | to_item(
            event_attributes(event)
            | {
                "state": delivery.state.value,
                "attempts": [_attempt_attribute(attempt) for attempt in delivery.attempts],
                "next": milliseconds(delivery.next_at) if delivery.next_at else None,
                "expires_at": to_ttl(last + _LOG_KEPT),
            }
        )
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
        """Read one delivery with strong consistency."""
        item = self._table.get(keys.webhook_delivery(account_id, endpoint_id, delivery_id))
        return _delivery_of(item, account_id, endpoint_id) if item else None

    def peek(self, account_id: str, endpoint_id: str, delivery_id: str) -> WebhookDelivery | None:
        """Read one delivery with eventual consistency."""
        key = keys.webhook_delivery(account_id, endpoint_id, delivery_id)
        item = self._table.get(key, consistent=False)
        return _delivery_of(item, account_id, endpoint_id) if item else None

    def newest_first(
        self, account_id: str, endpoint_id: str, limit: int, cursor: str | None
    ) -> ScanPage[WebhookDelivery]:
        """Read the part of the log before the cursor, which is the id of a delivery."""
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
                event_attributes(event)
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
                event = event_of(item, account_id, endpoint_id)
            except (KeyError, TypeError, ValueError) as error:
                unread.append(error)
                return None
            return replace(event, token=item.get("token"))

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
        """Delete the event on the condition that its token is stored."""
        place = event.account_id, event.endpoint_id
        # Items of an older version have no token.
        is_same = "#token = :token" if event.token else "attribute_not_exists(#token)"
        for key in (
            keys.waiting_event(*place, event.delivery_id),
            # Before there were shards, all events waited in the first one.
            keys.among_waiting(*place, 0, event.delivery_id),
        ):
            try:
                self._table.delete(
                    key,
                    condition=f"{EXISTS} AND {is_same}",
                    values={":token": event.token} if event.token else {},
                )
            except ConditionFailed as failure:
                if failure.item is None:
                    continue
            return


def event_attributes(event: WebhookEvent) -> dict[str, object]:
    """Return the attributes of an event that its key does not have."""
    return {
        "type": event.type.value,
        "message": str(event.message_id) if event.message_id else None,
        "address": event.address,
        "domain": event.domain,
        "pause": event.pause,
        "replayed": milliseconds(event.replayed_at) if event.replayed_at else None,
    }


def event_of(item: Mapping[str, Any], account_id: str, endpoint_id: str) -> WebhookEvent:
    """Read an event from an item whose sort key is the id of its delivery."""
    moment, _, event_id = item["sk"].partition("-")
    return WebhookEvent(
        event_id=UUID(event_id),
        type=WebhookType(item["type"]),
        account_id=account_id,
        endpoint_id=endpoint_id,
        at=to_datetime(int(moment)),
        message_id=UUID(item["message"]) if "message" in item else None,
        address=item.get("address"),
        domain=item.get("domain"),
        pause=item.get("pause"),
        replayed_at=to_datetime(item["replayed"]) if "replayed" in item else None,
    )


def _delivery_of(item: Mapping[str, Any], account_id: str, endpoint_id: str) -> WebhookDelivery:
    return WebhookDelivery(
        event=event_of(item, account_id, endpoint_id),
        state=DeliveryState(item["state"]),
        attempts=tuple(map(_attempt_of, item["attempts"])),
        next_at=to_datetime(item["next"]) if "next" in item else None,
    )


def _attempt_attribute(attempt: DeliveryAttempt) -> dict[str, object]:
    attribute = {
        "at": milliseconds(attempt.at),
        "code": attempt.status_code,
        "ms": attempt.milliseconds,
        "error": attempt.error,
    }
    return {name: value for name, value in attribute.items() if value is not None}


def _attempt_of(attribute: Mapping[str, Any]) -> DeliveryAttempt:
    return DeliveryAttempt(
        at=to_datetime(attribute["at"]),
        status_code=attribute.get("code"),
        milliseconds=attribute["ms"],
        error=attribute.get("error"),
    )
