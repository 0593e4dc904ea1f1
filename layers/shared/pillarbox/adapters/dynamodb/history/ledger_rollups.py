"""The rollups of a ledger: those of all messages of an account, and those of its subsets.

A rollup is always computed from entries or finer rollups, and never incremented, so it cannot
drift. With each rollup of the account, those of its subsets are made from the same entries: the
messages of each API key and of each template. A list for each day says which subsets have rollups
in it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import Item
from pillarbox.adapters.dynamodb.history.ledger_format import (
    rollup_attributes,
    rollup_of,
    subset_attributes,
    subsets_of,
)
from pillarbox.adapters.dynamodb.table import NEW, ConditionFailed, Parts, Table
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.statistics import (
    Granularity,
    IndexEntry,
    Rollup,
    Subset,
    TimeRange,
    combine_rollups,
    roll_up_entries,
    roll_up_subsets,
)

#: The milliseconds whose entries share an item, for the entries of one shard.
SHARD_SPAN: Final = 1_000
#: One or two writers share an item at a time. More lost races than this have another cause.
WRITE_ATTEMPTS: Final = 10


class _ReadEntries(Protocol):
    """Return the entries by creation of a time range."""

    def __call__(
        self, account_id: str, created: TimeRange, span: int = ...
    ) -> list[IndexEntry]: ...


class LedgerRollups:
    """Reads and makes the rollups of accounts."""

    def __init__(self, table: Table, read_entries: _ReadEntries) -> None:
        self._table = table
        self._read_entries = read_entries

    def read(
        self,
        account_id: str,
        granularity: Granularity,
        starts: TimeRange,
        subset: Subset | None = None,
    ) -> list[Rollup]:
        """Read the rollups of a granularity."""
        if starts.is_empty:
            return []
        first = keys.rollup(account_id, granularity, starts.since, subset)
        last = keys.rollup(account_id, granularity, starts.until - 1, subset)
        return [rollup_of(granularity, item) for item in self._table.query(first, last)]

    def make(self, account_id: str, granularity: Granularity, start: int) -> bool:
        """Recompute the rollups of a bucket, and write those that differ from the stored ones.

        Return whether one was different.
        """
        written = 0

        def write() -> bool:
            nonlocal written
            wrong, repaired = self._write(account_id, granularity, start)
            written += repaired
            return wrong == repaired

        repeat_write(write)
        return written > 0

    def _write(self, account_id: str, granularity: Granularity, start: int) -> tuple[int, int]:
        """Return how many of the stored rollups were wrong, and how many of them were written.

        The others are those that another writer changed in between.
        """
        listed = self._listed_subsets(account_id, granularity, start)
        # Before anything that they are made from, so that no write undoes a later one.
        stored = self._stored_rollups(account_id, granularity, start, listed)
        rollups = self._make_rollups(account_id, granularity, start, listed)
        if unlisted := {subset for subset in rollups if subset and subset not in listed}:
            self._list_subsets(account_id, start, unlisted)
        wrong = written = 0
        for subset, rollup in rollups.items():
            key = keys.rollup(account_id, granularity, start, subset)
            item = stored.get(key["pk"]["S"])
            if rollup == (rollup_of(granularity, item) if item else Rollup(granularity, start)):
                continue
            wrong += 1
            revision = item["rev"] if item else 0
            new_item = key | rollup_attributes(rollup, revision + 1)
            written += self._put_revision(new_item, revision)
        return wrong, written

    def _stored_rollups(
        self, account_id: str, granularity: Granularity, start: int, subsets: Iterable[Subset]
    ) -> dict[str, Mapping[str, Any]]:
        """Read the rollups of a bucket by their partition keys."""
        rollup_keys = [
            keys.rollup(account_id, granularity, start, subset) for subset in (None, *subsets)
        ]
        return {item["pk"]: item for item in self._table.get_all(rollup_keys)}

    def _listed_subsets(
        self, account_id: str, granularity: Granularity, start: int
    ) -> list[Subset]:
        """Read which subsets have rollups on the days of a bucket."""
        first = keys.subsets(account_id, Granularity.DAY.start(start))
        last = keys.subsets(account_id, granularity.end(start) - 1)
        lists = self._table.query(first, last)
        return sorted({subset for item in lists for subset in subsets_of(item)})

    def _list_subsets(self, account_id: str, start: int, subsets: Iterable[Subset]) -> None:
        """Add subsets to the list of a day, before their first rollups are written."""
        key = keys.subsets(account_id, Granularity.DAY.start(start))

        def add() -> bool:
            item = self._table.get(key)
            listed = {*subsets_of(item)} if item else set()
            revision = item["rev"] if item else 0
            attributes = subset_attributes(listed.union(subsets), revision + 1)
            return self._put_revision(key | attributes, revision)

        repeat_write(add)

    def _put_revision(self, item: Item, replaced: int) -> bool:
        """Put an item if the stored one still has a revision; 0 means that there is none."""
        seen: Parts = {"condition": "rev = :seen", "values": {":seen": replaced}}
        try:
            self._table.put(item, **(seen if replaced else {"condition": NEW}))
        except ConditionFailed:
            return False
        return True

    def _make_rollups(
        self, account_id: str, granularity: Granularity, start: int, listed: Iterable[Subset]
    ) -> dict[Subset | None, Rollup]:
        """Compute the rollups of a bucket from finer rollups, or from entries.

        An hour has finer rollups only if its messages are in shards.
        """
        bucket = TimeRange(start, granularity.end(start))
        if granularity.finer is None:
            entries = self._read_entries(account_id, bucket, SHARD_SPAN)
            return _count(granularity, start, entries, listed)
        finer = self.read(account_id, granularity.finer, bucket)
        if granularity is Granularity.HOUR and not finer:
            entries = self._read_entries(account_id, bucket)
            return _count(granularity, start, entries, listed)
        rollups: dict[Subset | None, Rollup] = {None: combine_rollups(granularity, start, finer)}
        for subset in listed:
            finer = self.read(account_id, granularity.finer, bucket, subset)
            rollups[subset] = combine_rollups(granularity, start, finer)
        return rollups


def _count(
    granularity: Granularity,
    start: int,
    entries: Iterable[IndexEntry],
    subsets: Iterable[Subset],
) -> dict[Subset | None, Rollup]:
    """Count entries of a bucket: all together, in their subsets, and in those given."""
    entries = [*entries]
    rollups: dict[Subset | None, Rollup] = {None: roll_up_entries(granularity, start, entries)}
    counted = roll_up_subsets(granularity, start, entries)
    for subset in sorted({*subsets, *counted}):
        rollups[subset] = counted.get(subset) or Rollup(granularity, start)
    return rollups


def repeat_write(write: Callable[[], bool]) -> None:
    """Repeat a write until no other writer gets in between."""
    if not any(write() for _ in range(WRITE_ATTEMPTS)):
        raise too_many_writers()


def too_many_writers() -> ServiceError:
    """Return the error for a write that others overtook again and again."""
    return ServiceError("service_unavailable", "Too many writers are changing the statistics.")
