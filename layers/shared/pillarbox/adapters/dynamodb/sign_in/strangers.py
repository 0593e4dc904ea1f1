"""Counts of the service's mail to strangers: an item for each day. The table's TTL deletes them."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import to_ttl
from pillarbox.adapters.dynamodb.store import Store
from pillarbox.domain.sign_in.strangers import DAYS, StrangerDay

#: Bounces can come for some days.
_KEPT: Final = timedelta(days=DAYS + 5)


class DynamoStrangerMail(Store):
    """Implements `ports.StrangerMail`."""

    def add_sent(self, day: date) -> None:
        """Add one in an update."""
        self._add(day, "ADD #sent :new", 1)

    def add_bounced(self, day: date, message_id: UUID) -> None:
        """Add the id to a set. So a bounce that is reported again counts once."""
        self._add(day, "ADD #bounced :new", {str(message_id)})

    def since(self, day: date) -> Sequence[StrangerDay]:
        """Read the days, of which there are few."""
        first, last = keys.stranger_day(day.isoformat()), keys.stranger_day(date.max.isoformat())
        return [
            StrangerDay(
                date.fromisoformat(item["sk"]), item.get("sent", 0), len(item.get("bounced", ()))
            )
            for item in self._table.query(first, last)
        ]

    def _add(self, day: date, expression: str, new: Any) -> None:  # noqa: ANN401  an int or a set
        expires = to_ttl(datetime.combine(day, time(), UTC) + _KEPT)
        self._table.update(
            keys.stranger_day(day.isoformat()),
            f"{expression} SET expires_at = :expires",
            values={":new": new, ":expires": expires},
        )
