"""Marks of provider events that could not be merged into their messages yet."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import from_text, to_item, to_text, to_ttl
from pillarbox.adapters.dynamodb.store import Store
from pillarbox.application.delivery.ports import ProviderEvent, SeenEvent

#: Longer than a message waits for its outcome (24 hours).
_KEPT: Final = timedelta(days=2)


class DynamoSeenEvents(Store):
    """Implements `delivery.ports.SeenEvents`."""

    def put(self, event: ProviderEvent) -> None:
        """Put the mark. Its partition is not that of the message, which may be throttled."""
        self._table.put(
            keys.seen_event(event.account_id, event.message_id)
            | to_item(
                {
                    "provider_id": event.provider_message_id,
                    "at": to_text(event.at),
                    "expires_at": to_ttl(event.at + _KEPT),
                }
            )
        )

    def find(self, account_id: str, message_id: UUID) -> SeenEvent | None:
        """Read the mark with strong consistency."""
        item = self._table.get(keys.seen_event(account_id, message_id))
        return SeenEvent(item.get("provider_id"), from_text(item["at"])) if item else None
