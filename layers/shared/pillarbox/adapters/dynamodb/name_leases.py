"""Leases of names, while objects are created. The table's TTL deletes them."""

from datetime import datetime

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import Store, to_text, to_ttl


class DynamoNameLeases(Store):
    """Implements `creations.NameLeases`."""

    def take(self, name: str, now: datetime, until: datetime) -> bool:
        item = self._table.try_update(
            keys.name_lease(name),
            "SET #until = :until, expires_at = :expires",
            condition="attribute_not_exists(#until) OR #until <= :now",
            values={":until": to_text(until), ":now": to_text(now), ":expires": to_ttl(until)},
        )
        return item is not None

    def give_back(self, name: str, until: datetime) -> None:
        self._table.try_update(
            keys.name_lease(name),
            "REMOVE #until",
            condition="#until = :until",
            values={":until": to_text(until)},
        )
