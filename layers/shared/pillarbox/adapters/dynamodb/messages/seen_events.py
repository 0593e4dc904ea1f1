"""Marks of provider events that could not be merged into their messages yet."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from pillarbox.adapters.aws import in_parallel
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import from_text, to_item, to_text, to_ttl
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.delivery.ports import SeenEvent, TaggedMessage

#: Longer than a message waits for its outcome (24 hours).
_KEPT: Final = timedelta(days=2)


class DynamoSeenEvents:
    """Implements `delivery.ports.SeenEvents`."""

    def __init__(self, table: Table) -> None:
        self._table = table

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
        """Read the mark with strong consistency."""
        item = self._table.get(keys.seen_event(account_id, message_id))
        return SeenEvent(item.get("provider_id"), from_text(item["at"])) if item else None
