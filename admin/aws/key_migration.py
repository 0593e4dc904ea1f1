"""API keys of older releases in the first table, and their way to `Credentials`.

While a key is in the first table, that record decides whether it is valid (`former_keys.py`). So a
key is copied first, and its record is deleted only if the copy has everything that it says. A key
goes one way only; no step writes a key into the first table.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.attributes import to_item
from pillarbox.adapters.dynamodb.records import KEYS_MOVED
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.errors import ServiceError

_REVOKED: Final = "revoked"
_NAMES: Final = {"#revoked": _REVOKED}


class DynamoFormerKeys:
    """Implements `operations.key_migration.FormerKeys`."""

    def __init__(self, table: Table, credentials: Table) -> None:
        self._table = table
        self._credentials = credentials

    def account_ids(self) -> Iterable[str]:
        """Read the list of accounts."""
        return DynamoAccounts(self._table).all_ids()

    def unmarked(self) -> list[str]:
        """Read the records of all accounts."""
        items = self._table.get_all([*map(keys.account, self.account_ids())])
        return [item["account"] for item in items if KEYS_MOVED not in item]

    def count(self, account_id: str) -> int:
        """Count the entries of the list."""
        return len([*self._table.query(keys.key_list(account_id))])

    def move(self, account_id: str) -> int:
        """Move each key of the list. The entry goes last, as it is the only way to its key."""
        entries = [*self._table.query(keys.key_list(account_id))]
        for entry in entries:
            key = keys.api_key(entry["digest"])
            while record := self._table.get(key):
                self._copy(record)
                self._check_copy(record)
                self._copy(entry)  # after the record: a revocation finds no entry without it
                self._delete_unchanged(record)
            self._table.delete(keys.key_list(account_id, entry["sk"]))
        return len(entries)

    def mark(self, account_id: str) -> None:
        """Write the attribute, unless the account was deleted meanwhile."""
        try:
            self._table.update(
                keys.account(account_id),
                "SET #moved = :moved",
                condition="attribute_exists(pk)",
                names={"#moved": KEYS_MOVED},
                values={":moved": True},
            )
        except ConditionFailed:
            return

    def _copy(self, record: Mapping[str, Any]) -> None:
        """Put a copy, or add the revocation to an existing one: a revocation is never undone."""
        try:
            self._credentials.put(to_item(record), condition="attribute_not_exists(pk)")
        except ConditionFailed:
            if _REVOKED not in record:
                return
            self._credentials.update(
                to_item({"pk": record["pk"], "sk": record["sk"]}),
                "SET #revoked = if_not_exists(#revoked, :at)",
                condition="attribute_exists(pk)",
                names=_NAMES,
                values={":at": record[_REVOKED]},
            )

    def _check_copy(self, record: Mapping[str, Any]) -> None:
        """Read the copy back.

        Raises:
            ServiceError: `service_unavailable`: it lacks something that the record says.
        """
        copy = self._credentials.get(to_item({"pk": record["pk"], "sk": record["sk"]})) or {}
        if any(
            name not in copy or (name != _REVOKED and copy[name] != value)
            for name, value in record.items()
        ):
            raise ServiceError(
                "service_unavailable",
                f"The copy of key {record['id']} differs from the key. Nothing of it was deleted.",
            )

    def _delete_unchanged(self, record: Mapping[str, Any]) -> None:
        """Delete a key from the first table, unless it was revoked after it was read."""
        revoked = record.get(_REVOKED)
        try:
            self._table.delete(
                keys.api_key(record["digest"]),
                condition="#revoked = :read" if revoked else "attribute_not_exists(#revoked)",
                names=_NAMES,
                values={":read": revoked} if revoked else None,
            )
        except ConditionFailed:
            return
