"""Counts of the service's mail to strangers: an item for each day. The table's TTL deletes them."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import Item, to_ttl
from pillarbox.adapters.dynamodb.store import Store
from pillarbox.domain.sign_in.strangers import DAYS, StrangerDay

#: Bounces can come for some days.
_KEPT: Final = timedelta(days=DAYS + 5)


class DynamoStrangerMail(Store):
    """Implements `ports.StrangerMail`."""

    def add_sent(self, name: str, day: date) -> None:
        """Add one in an update."""
        self._change(name, day, "ADD #sent :new SET expires_at = :expires", 1)

    def set_sent(self, name: str, day: date, sent: int) -> None:
        """Set one attribute."""
        self._change(name, day, "SET #sent = :new, expires_at = :expires", sent)

    def add_bounced(self, name: str, day: date, message_id: UUID) -> int:
        """Add the id to a set. So a bounce that is reported again counts once."""
        expression = "ADD #bounced :new SET expires_at = :expires"
        return len(self._change(name, day, expression, {str(message_id)})["bounced"])

    def since(self, name: str, day: date) -> Sequence[StrangerDay]:
        """Read the days, of which there are few."""
        first, last = _key_of(name, day), _key_of(name, date.max)
        return [
            StrangerDay(
                date.fromisoformat(item["sk"].rpartition("#")[2]),
                item.get("sent", 0),
                len(item.get("bounced", ())),
            )
            for item in self._table.query(first, last)
        ]

    def _change(self, name: str, day: date, expression: str, new: object) -> dict[str, Any]:
        expires = to_ttl(datetime.combine(day, time(), UTC) + _KEPT)
        return self._table.update(
            _key_of(name, day), expression, values={":new": new, ":expires": expires}
        )


def _key_of(name: str, day: date) -> Item:
    return keys.stranger_day(f"{name}#{day}")
