"""What is known of the provider's events: that they come, and which came before their message.

One item has the time of the newest event, another one that of the last probe.
"""

from collections.abc import Collection
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from pillarbox.adapters.aws import in_parallel
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import (
    ConditionFailed,
    Store,
    Table,
    from_text,
    to_item,
    to_text,
    to_ttl,
)
from pillarbox.application.delivery.ports import SeenEvent, TaggedMessage

#: Readers compare the heartbeat in minutes, so each process writes it about once a minute.
_RESOLUTION: Final = timedelta(minutes=1)
#: A worker looks at an uncertain email as often. SES charges for each probe as for an email.
PROBE_INTERVAL: Final = timedelta(minutes=10)


class DynamoHeartbeat:
    """Implements `delivery.ports.EventHeartbeat`."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._written: datetime | None = None

    def record(self, at: datetime) -> None:
        if self._written is not None and at < self._written + _RESOLUTION:
            return
        with suppress(ConditionFailed):  # another process wrote a newer time
            self._table.update(
                keys.heartbeat(),
                "SET #at = :at",
                condition="attribute_not_exists(pk) OR #at < :at",
                values={":at": to_text(at)},
            )
        self._written = at

    def latest(self) -> datetime | None:
        item = self._table.get(keys.heartbeat())
        return from_text(item["at"]) if item else None

    def take_probe(self, now: datetime) -> bool:
        with suppress(ConditionFailed):
            self._table.update(
                keys.probe(),
                "SET #at = :now",
                condition="attribute_not_exists(pk) OR #at <= :before",
                names={"#at": "at"},
                values={":now": to_text(now), ":before": to_text(now - PROBE_INTERVAL)},
            )
            return True
        return False


#: Longer than a message waits for its outcome (24 hours).
_KEPT: Final = timedelta(days=2)


class DynamoSeenEvents(Store):
    """Implements `delivery.ports.SeenEvents`."""

    def put_all(self, messages: Collection[TaggedMessage], at: datetime) -> None:
        """Put the marks at the same time, since the table may be slow.

        Their partitions are not those of the messages, which may be throttled.
        """

        def put(message: TaggedMessage) -> None:
            self._table.put(
                keys.seen_event(message.account_id, message.message_id)
                | to_item(
                    {
                        "provider_id": message.provider_message_id,
                        "at": to_text(at),
                        "expires_at": to_ttl(at + _KEPT),
                    }
                )
            )

        in_parallel(put, [*messages])

    def find(self, account_id: str, message_id: UUID) -> SeenEvent | None:
        item = self._table.get(keys.seen_event(account_id, message_id))
        return SeenEvent(item.get("provider_id"), from_text(item["at"])) if item else None
