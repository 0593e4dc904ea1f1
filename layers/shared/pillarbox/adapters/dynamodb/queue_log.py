"""The operators' log of redrives and drops."""

from collections.abc import Sequence
from typing import Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import TIME, Store, to_item
from pillarbox.adapters.rows import Row
from pillarbox.application.operator.ports import Redrive

_REDRIVE: Final = Row(Redrive, *("by", "queue", "moved?", "dropped?"), at=("at", TIME))


class DynamoQueueLog(Store):
    """Implements `operator.ports.QueueLog`."""

    def put(self, redrive: Redrive) -> None:
        """Put the record. Its id sorts by time."""
        self._table.put(keys.redrive(redrive.entry_id) | to_item(_REDRIVE.write(redrive)))

    def newest(self, limit: int) -> Sequence[Redrive]:
        items = self._table.query(keys.redrive(), newest_first=True, limit=limit)
        return [_REDRIVE.read(item, entry_id=item["sk"]) for item in items]
