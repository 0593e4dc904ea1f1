"""The tenant of SES in which the accounts of strangers begin: one item, if it is ready."""

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import to_attribute
from pillarbox.adapters.dynamodb.store import Store


class DynamoSharedTenant(Store):
    """Implements `accounts.ports.SharedTenant`."""

    def stored(self) -> str | None:
        """Read one item."""
        item = self._table.get(keys.shared_tenant())
        return item["name"] if item else None

    def store(self, name: str | None) -> None:
        """Put the item, or delete it."""
        if name is None:
            self._table.delete(keys.shared_tenant())
        else:
            self._table.put(keys.shared_tenant() | {"name": to_attribute(name)})
