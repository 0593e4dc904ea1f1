"""The entries of the logs of accounts."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import TIME, Item, assigning, to_item
from pillarbox.adapters.dynamodb.store import Store
from pillarbox.adapters.dynamodb.table import NEW, Table
from pillarbox.adapters.rows import Codec, Column, Row, one_of
from pillarbox.domain.accounts.account_log import AccountAction, LogEntry

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


_ENTRY: Final = Row(
    LogEntry,
    *("by", "reason?", "subject?"),
    at=("at", TIME),
    action=("action", one_of(AccountAction)),
    changes=Column(
        "changes",
        Codec(dict, lambda changes: {name: (old, new) for name, (old, new) in changes.items()}),
        absent={},
    ),
)


def entry_item(account_id: str, entry: LogEntry) -> Item:
    """Return an entry as an item of a new account, whose log is empty."""
    return keys.account_log(account_id, entry.entry_id) | to_item(_ENTRY.write(entry))


class DynamoAccountLog(Store):
    """Implements `change_log.LogEntries`."""

    def add(self, account_id: str, entry: LogEntry) -> None:
        """Add an entry by an update, as `new_entry` says."""
        key, expression, values = _addition(account_id, entry)
        self._table.update(key, expression, condition=NEW, values=values)


def new_entry(table: Table, account_id: str, entry: LogEntry) -> "TransactWriteItemTypeDef":
    """Return the update that adds an entry. Its id sorts by time."""
    key, expression, values = _addition(account_id, entry)
    return table.to_update(key, expression, condition=NEW, values=values)


def _addition(account_id: str, entry: LogEntry) -> tuple[Item, str, dict[str, object]]:
    given = {name: value for name, value in _ENTRY.write(entry).items() if value is not None}
    return (keys.account_log(account_id, entry.entry_id), *assigning(given))


def entry_of(item: Mapping[str, Any]) -> LogEntry:
    """Read an entry."""
    return _ENTRY.read(item, entry_id=item["sk"])
