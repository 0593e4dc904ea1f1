"""The health of webhook endpoints: one record for each, replaced only if it has not changed."""

from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import from_text, to_item, to_text
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.webhooks.endpoint import EndpointHealth

_TIMES: Final = frozenset(
    field.name for field in fields(EndpointHealth) if "datetime" in str(field.type)
)


class DynamoEndpointHealths:
    """Implements `webhooks.ports.EndpointHealths`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, account_id: str, endpoint_id: str) -> EndpointHealth:
        """Read the record with strong consistency."""
        item = self._table.get(keys.endpoint_health(account_id, endpoint_id))
        return _health_of(item["health"]) if item else EndpointHealth()

    def replace(
        self, account_id: str, endpoint_id: str, old: EndpointHealth, new: EndpointHealth
    ) -> bool:
        """Put the new health on the condition that the old one is stored."""
        is_old = "health = :old"
        if old == EndpointHealth():
            is_old += " OR attribute_not_exists(pk)"
        try:
            self._table.put(
                keys.endpoint_health(account_id, endpoint_id)
                | to_item({"health": _attribute(new)}),
                condition=is_old,
                values={":old": _attribute(old)},
            )
        except ConditionFailed as failure:
            # The SDK may have repeated our own write, whose response was lost.
            return failure.item is not None and failure.item["health"] == _attribute(new)
        return True

    def remove(self, account_id: str, endpoint_id: str) -> None:
        """Delete the record."""
        self._table.delete(keys.endpoint_health(account_id, endpoint_id))


def _attribute(health: EndpointHealth) -> dict[str, object]:
    values = {field.name: getattr(health, field.name) for field in fields(health)}
    return {
        name: to_text(value) if isinstance(value, datetime) else value
        for name, value in values.items()
        if value is not None
    }


def _health_of(attribute: dict[str, Any]) -> EndpointHealth:
    values: dict[str, Any] = {
        name: from_text(value) if name in _TIMES else value for name, value in attribute.items()
    }
    return EndpointHealth(**values)
