"""The operators' log of redrives."""

from collections.abc import Sequence

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import from_text, to_item, to_text
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.queue_log import Redrive


class DynamoQueueLog:
    """Implements `operation.ports.QueueLog`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(self, redrive: Redrive) -> None:
        """Put the record. Its id sorts by time."""
        values = {
            "at": to_text(redrive.at),
            "by": redrive.by,
            "queue": redrive.queue,
            "moved": redrive.moved,
        }
        self._table.put(keys.redrive(redrive.entry_id) | to_item(values))

    def newest(self, limit: int) -> Sequence[Redrive]:
        """Read the end of the log."""
        return [
            Redrive(
                entry_id=item["sk"],
                at=from_text(item["at"]),
                by=item["by"],
                queue=item["queue"],
                moved=item.get("moved"),
            )
            for item in self._table.query(keys.redrive(), newest_first=True, limit=limit)
        ]
