"""API keys, each under the digest of its text and in its account's list, and their last uses.

Each use is an item of its own and not a part of the key, so that the writer needs no right to
change keys, and no write can meet a revocation.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import batched
from threading import Lock
from typing import Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.records import key_item, key_of
from pillarbox.adapters.dynamodb.table import (
    EXISTS,
    NEW,
    ConditionFailed,
    Store,
    Table,
    TransactionConditionsFailed,
    from_text,
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
        return [entry["sk"] for entry in self._table.query(keys.key_list(key_id))]

    def forget_child(self, key_id: str, child_id: str) -> None:
        self._table.delete(keys.key_list(key_id, child_id))

    def of_account(self, account_id: str) -> Iterable[ApiKey]:
        entries = self._table.query(keys.key_list(account_id))
        for batch in batched((entry["digest"] for entry in entries), _BATCH, strict=False):
            yield from map(key_of, self._table.get_all([*map(keys.api_key, batch)]))

    def ids_of_account(self, account_id: str) -> Iterable[str]:
        return [entry["sk"] for entry in self._table.query(keys.key_list(account_id))]

    def get(self, account_id: str, key_id: str) -> ApiKey | None:
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
        try:
            self._table.delete(
                keys.api_key(key.digest),
                condition="attribute_exists(#revoked) OR attribute_not_exists(pk)",
            )
        except ConditionFailed:
            return
        self._table.delete(keys.key_list(key.account_id, key.key_id))


#: A use this long after the recorded one is recorded.
_PERIOD: Final = timedelta(hours=1)
#: The keys whose recorded use a process remembers, so that it need not read it again.
_MAX_KEYS: Final = 10_000


class DynamoKeyUses:
    """Implements `ports.KeyUses`. Threads may share it."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._lock = Lock()
        self._recorded: dict[tuple[str, str], datetime] = {}

    def record(self, account_id: str, key_id: str, at: datetime) -> None:
        recorded = self._recorded.get((account_id, key_id)) or self.last_use(account_id, key_id)
        if recorded is None or at >= recorded + _PERIOD:
            item = keys.key_use(account_id, key_id) | to_item({"last_used": to_text(at)})
            with suppress(ConditionFailed):  # another process recorded a newer use
                self._table.put(
                    item,
                    condition="attribute_not_exists(pk) OR last_used < :at",
                    values={":at": to_text(at)},
                )
            recorded = at
        self._remember(account_id, key_id, recorded)

    def last_use(self, account_id: str, key_id: str) -> datetime | None:
        """Read one item, eventually consistently: it may be an hour behind in any case."""
        item = self._table.get(keys.key_use(account_id, key_id), consistent=False)
        return from_text(item["last_used"]) if item else None

    def last_uses(self, account_id: str) -> Mapping[str, datetime]:
        items = self._table.query(keys.key_use(account_id))
        return {item["sk"]: from_text(item["last_used"]) for item in items}

    def _remember(self, account_id: str, key_id: str, recorded: datetime) -> None:
        with self._lock:
            if len(self._recorded) >= _MAX_KEYS:
                self._recorded.clear()
            self._recorded[account_id, key_id] = recorded
