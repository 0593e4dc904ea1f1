"""API keys: each is stored under the digest of its text and in its account's list."""

from collections.abc import Iterable
from datetime import datetime
from itertools import batched
from typing import Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.records import key_item, key_of
from pillarbox.adapters.dynamodb.table import (
    EXISTS,
    NEW,
    ConditionFailed,
    Store,
    TransactionConditionsFailed,
    put_with_list_entry,
    to_item,
    to_text,
)
from pillarbox.domain.accounts.key import ApiKey
from pillarbox.domain.errors import Unavailable

#: BatchGetItem accepts at most 100 keys.
_BATCH: Final = 100


class DynamoApiKeys(Store):
    """Implements `accounts.ports.KeyRecords`."""

    def add(self, key: ApiKey, parent: ApiKey | None = None) -> bool:
        """Put the record and its entry in the account's list, and one in its parent's list."""
        entry = keys.key_list(key.account_id, key.key_id) | to_item({"digest": key.digest})
        if parent is None:
            put_with_list_entry(self._table, key_item(key), entry)
            return True
        unless_revoked = "attribute_exists(pk) AND attribute_not_exists(#revoked)"
        try:
            self._table.transact(
                [
                    self._table.to_check(keys.api_key(parent.digest), condition=unless_revoked),
                    self._table.to_put(key_item(key), condition=NEW),
                    self._table.to_put(entry, condition=NEW),
                    self._table.to_put(keys.key_list(parent.key_id, key.key_id), condition=NEW),
                ]
            )
        except TransactionConditionsFailed as error:
            if error.failed[0]:
                return False
            raise Unavailable("data store", "A response was lost. Try again.") from error
        return True

    def children_of(self, key_id: str) -> Iterable[str]:
        """Read the list of the key's children."""
        return [entry["sk"] for entry in self._table.query(keys.key_list(key_id))]

    def forget_child(self, key_id: str, child_id: str) -> None:
        """Delete an entry of that list."""
        self._table.delete(keys.key_list(key_id, child_id))

    def of_account(self, account_id: str) -> Iterable[ApiKey]:
        """Read the list, then the records in batches of 100."""
        entries = self._table.query(keys.key_list(account_id))
        for batch in batched((entry["digest"] for entry in entries), _BATCH, strict=False):
            yield from map(key_of, self._table.get_all([*map(keys.api_key, batch)]))

    def ids_of_account(self, account_id: str) -> Iterable[str]:
        """Read the list alone."""
        return [entry["sk"] for entry in self._table.query(keys.key_list(account_id))]

    def get(self, account_id: str, key_id: str) -> ApiKey | None:
        """Read a key by its id, with strong consistency."""
        entry = self._table.get(keys.key_list(account_id, key_id))
        item = self._table.get(keys.api_key(entry["digest"])) if entry else None
        return key_of(item) if item else None

    def revoke(self, account_id: str, key_id: str, at: datetime) -> ApiKey | None:
        """Set the time of revocation. Every authentication reads it."""
        entry = self._table.get(keys.key_list(account_id, key_id))
        if entry is None:
            return None
        item = self._table.update(
            keys.api_key(entry["digest"]),
            "SET #revoked = if_not_exists(#revoked, :at)",
            condition=EXISTS,
            values={":at": to_text(at)},
        )
        return key_of(item)

    def forget(self, key: ApiKey) -> None:
        """Delete the record, then its entry, unless the key is not revoked."""
        try:
            self._table.delete(
                keys.api_key(key.digest),
                condition="attribute_exists(#revoked) OR attribute_not_exists(pk)",
            )
        except ConditionFailed:
            return
        self._table.delete(keys.key_list(key.account_id, key.key_id))
