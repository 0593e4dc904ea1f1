"""Addresses that an account must not mail any more."""

from datetime import datetime
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import to_item, to_text
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table


class DynamoSuppressions:
    """Fulfils `ports.Suppressions`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(
        self, account_id: str, address: str, reason: str, at: datetime, message_id: UUID | None
    ) -> None:
        """Put a suppression; the first reason stays."""
        item = keys.suppression(account_id, address) | to_item(
            {
                "reason": reason,
                "at": to_text(at),
                "message": str(message_id) if message_id else None,
            }
        )
        try:
            self._table.put(item, condition="attribute_not_exists(pk)")
        except ConditionFailed:
            return
