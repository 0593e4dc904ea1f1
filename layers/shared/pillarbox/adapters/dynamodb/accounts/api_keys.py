"""API keys: each is stored under the digest of its text and in its account's list.

Keys of older releases may still be in the first table (`former_keys.py`). Code that
reads both tables reads the first one first, because the migration moves records from there.
"""

from collections.abc import Iterable
from datetime import datetime
from itertools import batched
from typing import Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import to_item, to_text
from pillarbox.adapters.dynamodb.list_entries import put_with_list_entry
from pillarbox.adapters.dynamodb.records import key_item, key_of
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.accounts.key import ApiKey

#: BatchGetItem accepts at most 100 keys.
_BATCH: Final = 100


class DynamoApiKeys:
    """Implements `accounts.ports.KeyRecords`."""

    def __init__(self, credentials: Table, first_table: Table) -> None:
        self._credentials = credentials
        self._first_table = first_table

    def add(self, key: ApiKey) -> None:
        """Put the record and its entry in the account's list."""
        entry = keys.key_list(key.account_id, key.key_id) | to_item({"digest": key.digest})
        put_with_list_entry(self._credentials, key_item(key), entry)

    def of_account(self, account_id: str) -> Iterable[ApiKey]:
        """Read the lists, then the records in batches of 100."""
        found: dict[str, ApiKey] = {}
        for table in (self._first_table, self._credentials):
            digests = (entry["digest"] for entry in table.query(keys.key_list(account_id)))
            for batch in batched(digests, _BATCH, strict=False):
                for item in table.get_all([*map(keys.api_key, batch)]):
                    found.setdefault(item["digest"], key_of(item))
        return found.values()

    def revoke(self, account_id: str, key_id: str, at: datetime) -> ApiKey | None:
        """Set the time of revocation. Every authentication reads it."""
        try:
            former = self._revoke_in(self._first_table, account_id, key_id, at)
        except ConditionFailed:
            former = None  # it moved after its entry was read
        return self._revoke_in(self._credentials, account_id, key_id, at) or former

    def forget(self, key: ApiKey) -> None:
        """Delete the record, then its entry. Keys of older releases stay in the first table."""
        try:
            self._credentials.delete(
                keys.api_key(key.digest),
                condition="attribute_exists(#revoked) OR attribute_not_exists(pk)",
                names={"#revoked": "revoked"},
            )
        except ConditionFailed:
            return
        self._credentials.delete(keys.key_list(key.account_id, key.key_id))

    @staticmethod
    def _revoke_in(table: Table, account_id: str, key_id: str, at: datetime) -> ApiKey | None:
        entry = table.get(keys.key_list(account_id, key_id))
        if entry is None:
            return None
        item = table.update(
            keys.api_key(entry["digest"]),
            "SET #revoked = if_not_exists(#revoked, :at)",
            condition="attribute_exists(pk)",
            names={"#revoked": "revoked"},
            values={":at": to_text(at)},
        )
        return key_of(item)
