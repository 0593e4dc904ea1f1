"""A ledger in a metered table, whose items tests look at one by one."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from benchmarks.metered import Metered, metered_table
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.history.ledger import DynamoLedger
from pillarbox.adapters.dynamodb.history.ledger_audit import DynamoLedgerAudit
from pillarbox.adapters.dynamodb.history.ledger_format import unpack
from pillarbox.adapters.dynamodb.table import Item, from_item
from pillarbox.domain.messages.message import Status
from pillarbox.domain.messages.statistics import IndexEntry, TimeRange

ACCOUNT = "acct00000001"
#: 2026-01-30T22:57:13.250Z.
CREATED = 1_769_813_833_250
#: 2026-01-30T22:00:00Z.
HOUR = 1_769_810_400_000
HOUR_LENGTH, DAY_LENGTH = 3_600_000, 86_400_000


def message_id(number: int, created: int = CREATED, shards: int = 1) -> UUID:
    """Return an id whose random bits are a number; its lowest bits choose the shard."""
    version = 0x7000 if shards == 1 else 0x8000 | (shards.bit_length() - 1) << 8 | number
    return UUID(int=created << 80 | version << 64 | 0b10 << 62 | number)


def entry(number: int, *, created: int = CREATED, shards: int = 1, **changes: object) -> IndexEntry:
    """Return the entry of a message that waits, with some changes."""
    values = {"revision": 1, "status": Status.PENDING, "updated": created} | changes
    return IndexEntry(message_id(number, created, shards), **values)  # type: ignore[arg-type]


class LedgerWorld:
    """A ledger and its audit."""

    def __init__(self) -> None:
        self.table, self.engine = metered_table()
        self.ledger = DynamoLedger(self.table)
        self.audit = DynamoLedgerAudit(self.table)

    def put(self, *entries: IndexEntry) -> None:
        self.ledger.put_entries(ACCOUNT, entries)

    def created(self, since: int, until: int) -> list[IndexEntry]:
        return self.ledger.entries_created(ACCOUNT, TimeRange(since, until))

    def item(self, moment: int) -> dict[UUID, IndexEntry] | None:
        """Return the entries of an item by creation, or None if there is no item."""
        return self._entries(keys.entries(ACCOUNT, moment))

    def copies(self, group: str, moment: int) -> dict[UUID, IndexEntry] | None:
        """Return the entries of an item by status and update, or None if there is no item."""
        return self._entries(keys.updates(ACCOUNT, group, moment))

    def stored(self, key: Item) -> dict[str, Any]:
        """Return an item as it is stored, or nothing."""
        item = self.engine.partition(key["pk"]["S"]).get(key["sk"]["S"])
        return from_item(item) if item else {}

    def watch(
        self, sort_key: str = "", before: Callable[[Mapping[str, Any]], object] = id
    ) -> "WatchedEngine":
        """Note from now on what is read and written.

        Args:
            sort_key: how the sort keys begin of the items before whose writes something happens.
            before: what happens; it gets the item, or the key of one that is deleted.
        """
        engine = WatchedEngine(self.engine, sort_key, before)
        vars(self.table)["client"] = engine
        return engine

    def _entries(self, key: Item) -> dict[UUID, IndexEntry] | None:
        item = self.stored(key)
        return {one.message_id: one for one in unpack(item)} if item else None


class WatchedEngine:
    """The engine, which notes sort keys; those of single reads before a write are left out."""

    def __init__(
        self, engine: Metered, sort_key: str, before: Callable[[Mapping[str, Any]], object]
    ) -> None:
        self._engine, self._sort_key, self._before = engine, sort_key, before
        self.read: list[str] = []
        self.written: list[str] = []

    def query(self, **request: Any) -> dict[str, Any]:
        answer = self._engine.query(**request)
        self.read += [item["sk"]["S"] for item in answer["Items"]]
        return answer

    def batch_get_item(self, **request: Any) -> dict[str, Any]:
        for requested in request["RequestItems"].values():
            self.read += [key["sk"]["S"] for key in requested["Keys"]]
        return self._engine.batch_get_item(**request)

    def put_item(self, **request: Any) -> dict[str, Any]:
        self._note(request["Item"])
        return self._engine.put_item(**request)

    def delete_item(self, **request: Any) -> dict[str, Any]:
        self._note(request["Key"])
        return self._engine.delete_item(**request)

    def _note(self, item: Mapping[str, Any]) -> None:
        sort_key: str = item["sk"]["S"]
        self.written.append(sort_key)
        if sort_key.startswith(self._sort_key):
            self._before(item)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)
