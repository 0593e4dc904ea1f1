"""The hours of accounts whose statistics have to be rebuilt.

All marks share a partition, so that one query finds the few that there are.
"""

from collections.abc import Iterator
from contextlib import suppress

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import (
    ConditionFailed,
    Store,
    to_item,
)
from pillarbox.application.history.ports import RebuildMark
from pillarbox.domain.timing import milliseconds, to_datetime


class DynamoRebuildMarks(Store):
    """Implements `history.ports.RebuildMarks`."""

    def put(self, mark: RebuildMark) -> None:
        marked = to_item({"marked": milliseconds(mark.marked_at)})
        self._table.put(keys.rebuild_mark(mark.account_id, mark.hour) | marked)

    def all(self) -> Iterator[RebuildMark]:
        for item in self._table.query(keys.rebuild_mark()):
            yield RebuildMark(
                keys.marked_account(item), keys.moment(item), to_datetime(item["marked"])
            )

    def remove(self, mark: RebuildMark) -> None:
        with suppress(ConditionFailed):
            self._table.delete(
                keys.rebuild_mark(mark.account_id, mark.hour),
                condition="marked = :seen",
                values={":seen": milliseconds(mark.marked_at)},
            )
