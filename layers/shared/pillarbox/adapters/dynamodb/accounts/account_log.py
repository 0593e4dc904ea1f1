"""The entries of the logs of accounts."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import (
    NEW,
    TIME,
    Item,
    Store,
    Table,
    assigning,
    to_item,
    to_ttl,
)
from pillarbox.adapters.rows import Codec, Column, Row, one_of
from pillarbox.domain.accounts.account_log import AccountAction, LogEntry

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


_ENTRY: Final = Row(
    LogEntry,
    *("by", "reason?", "subject?"),
    at=("at", TIME),
    count=Column("count", absent=1),
    action=("action", one_of(AccountAction)),
    changes=Column(
        "changes",
        Codec(dict, lambda changes: {name: (old, new) for name, (old, new) in changes.items()}),
        absent={},
    ),
)


#: The start of the sort keys of calls, after those of all changes.
_CALLS: Final = "~"
#: Sorts after the hexadecimal digits of an id.
_AFTER_HEX: Final = "g"
#: How long an entry of a call is kept; DynamoDB deletes it.
_KEPT: Final = timedelta(days=400)


def entry_item(account_id: str, entry: LogEntry) -> Item:
    """Return an entry as an item of a new account, whose log is empty."""
    return keys.account_log(account_id, entry.entry_id) | to_item(_ENTRY.write(entry))


class DynamoAccountLog(Store):
    """Implements `change_log.LogEntries`."""

    def add(self, account_id: str, entry: LogEntry) -> None:
        """Add an entry by an update, as `new_entry` says; one of a call expires."""
        key, expression, values = _addition(account_id, entry)
        if not entry.action.is_call:
            self._table.update(key, expression, condition=NEW, values=values)
            return
        key = keys.account_log(account_id, f"{_CALLS}{entry.entry_id}")
        expires = {":expires": to_ttl(entry.at + _KEPT), ":one": 1}
        expression += ", expires_at = :expires ADD #count :one"
        self._table.update(key, expression, values=values | expires)

    def entries(
        self, account_id: str, limit: int, before: str | None = None, *, calls: bool = False
    ) -> Sequence[LogEntry]:
        start = _CALLS if calls else ""
        first = keys.account_log(account_id, f"{start}0")
        last = keys.account_log(account_id, start + (before or _AFTER_HEX))
        found = self._table.query(first, last, newest_first=True, limit=limit)
        return [*map(entry_of, found)]


def new_entry(table: Table, account_id: str, entry: LogEntry) -> "TransactWriteItemTypeDef":
    """Return the update that adds an entry. Its id sorts by time."""
    key, expression, values = _addition(account_id, entry)
    return table.to_update(key, expression, condition=NEW, values=values)


def _addition(account_id: str, entry: LogEntry) -> tuple[Item, str, dict[str, object]]:
    written = _ENTRY.write(entry).items()
    given = {name: value for name, value in written if value is not None and name != "count"}
    return (keys.account_log(account_id, entry.entry_id), *assigning(given))


def entry_of(item: Mapping[str, Any]) -> LogEntry:
    return _ENTRY.read(item, entry_id=item["sk"].removeprefix(_CALLS))
