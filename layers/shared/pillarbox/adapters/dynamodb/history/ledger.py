"""An account's ledger: its index entries by creation and by update, and its rollups.

An entry takes 26 bytes, and all entries of half a minute share an item. So
reading entries costs a twentieth of reading records, and a batch of changes
writes little more than its entries' bytes. If the account has several shards,
each shard has an item of its own for every second: items stay small at any
rate, and batches of two shards never write the same one. The items of all
shards are next to each other, so one query reads them. Each entry is in two
items:

* By creation. This one is authoritative: rollups are made from it. A newer
  revision of the message replaces it, an older one does not, so changes may be
  applied repeatedly, in parts and out of order.
* By status and update. This one is a copy, which is written first. If a failure
  leaves it half written, the retry repairs it: the authoritative entry is still
  the old one, or a newer one, and then the retry only removes what it copied. An
  entry that was updated in a later hour than it was created in is a later one.
  Later ones are few and in items of their own, so that the others can be found by
  their hour of creation here too.

A rollup is always computed from entries or finer rollups, and never incremented, so it cannot
drift. With each rollup of the account, those of its subsets are made from the same entries: the
messages of each API key and of each template. A list for each day says which subsets have rollups
in it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.history.ledger_format import (
    pack,
    rollup_attributes,
    rollup_of,
    subset_attributes,
    subsets_of,
    unpack,
)
from pillarbox.adapters.dynamodb.table import NEW, ConditionFailed, Item, Parts, Store
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import MAX_SHARDS, shard_count, shard_of
from pillarbox.domain.messages.message import Status
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
#: The entries of this many milliseconds share an item. It must stay below DynamoDB's 400 KB:
#: 15,000 entries, or 500 a second, which is more than one partition accepts of an account's
#: messages. It is a multiple of the span of one shard. Stored keys depend on both:
#: `pillarbox stats rebuild` must follow a change.
ITEM_SPAN: Final = 30_000


class DynamoLedger(Store):
    """Implements `history.ports.Ledger`."""

    def newest_entry_time(self, account_id: str) -> int | None:
        newest = self._newest_entry(account_id)
        return newest.created if newest else None

    def newest_entry(self, account_id: str, max_lag: int) -> IndexEntry | None:
        """Read items of entries by creation, from the last one back to one of each shard."""
        newest, by_shard = self._newest_entry(account_id), dict[int, IndexEntry]()
        if newest is None or not newest.is_sharded:
            return newest
        first, last = keys.entries(account_id, 0), keys.entries(account_id, keys.LATEST)
        shards = shard_count(newest.message_id)
        for item in self._table.query(first, last, newest_first=True, page=2 * shards):
            entry = max(unpack(item), key=_creation)
            if not entry.is_sharded or entry.created < newest.created - max_lag:
                return entry
            shards = max(shards, shard_count(entry.message_id))
            by_shard.setdefault(shard_of(entry.message_id), entry)
            if len(by_shard) == shards:
                return min(by_shard.values(), key=_creation)
        return None

    def entries_created(
        self, account_id: str, created: TimeRange, span: int = ITEM_SPAN
    ) -> list[IndexEntry]:
        """Read entries by creation; those of shards alone if the span is that of their items."""
        return [
            entry
            for entry in self._read(created, partial(keys.entries, account_id), span)
            if entry.created in created
        ]

    def entries_updated(
        self, account_id: str, status: Status, updated: TimeRange, created: TimeRange
    ) -> list[IndexEntry]:
        first_hour = TimeRange(
            max(updated.since, Granularity.HOUR.start(created.since)),
            min(updated.until, Granularity.HOUR.ceiling(created.until)),
        )
        later = TimeRange(max(updated.since, created.since), updated.until)
        return [
            entry
            for group, time_range in ((status.value, first_hour), (later_group(status), later))
            for entry in self._read(time_range, partial(keys.updates, account_id, group))
            if entry.updated in updated and entry.created in created
        ]

    def rollups(
        self,
        account_id: str,
        granularity: Granularity,
        starts: TimeRange,
        subset: Subset | None = None,
    ) -> list[Rollup]:
        if starts.is_empty:
            return []
        first = keys.rollup(account_id, granularity, starts.since, subset)
        last = keys.rollup(account_id, granularity, starts.until - 1, subset)
        return [rollup_of(granularity, item) for item in self._table.query(first, last)]

    def put_entries(self, account_id: str, entries: Iterable[IndexEntry]) -> None:
        by_item: defaultdict[int, list[IndexEntry]] = defaultdict(list)
        for entry in entries:
            by_item[place(entry)].append(entry)
        remaining: Mapping[int, Sequence[IndexEntry]] = by_item
        for _ in range(WRITE_ATTEMPTS):
            remaining = self._merge(account_id, remaining)
            if not remaining:
                return
        raise too_many_writers()

    def roll_up(self, account_id: str, granularity: Granularity, start: int) -> bool:
        """Recompute the rollups of a bucket, and write those that differ from the stored ones.

        Return whether one was different.
        """
        written = 0

        def write() -> bool:
            nonlocal written
            wrong, repaired = self._write_rollups(account_id, granularity, start)
            written += repaired
            return wrong == repaired

        repeat_write(write)
        return written > 0

    def _write_rollups(
        self, account_id: str, granularity: Granularity, start: int
    ) -> tuple[int, int]:
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
        return self._table.replace(item, **(seen if replaced else {"condition": NEW}))

    def _make_rollups(
        self, account_id: str, granularity: Granularity, start: int, listed: Iterable[Subset]
    ) -> dict[Subset | None, Rollup]:
        """Compute the rollups of a bucket from finer rollups, or from entries.

        An hour has finer rollups only if its messages are in shards.
        """
        bucket = TimeRange(start, granularity.end(start))
        if granularity.finer is None:
            entries = self.entries_created(account_id, bucket, SHARD_SPAN)
            return _count(granularity, start, entries, listed)
        finer = self.rollups(account_id, granularity.finer, bucket)
        if granularity is Granularity.HOUR and not finer:
            entries = self.entries_created(account_id, bucket)
            return _count(granularity, start, entries, listed)
        rollups: dict[Subset | None, Rollup] = {None: combine_rollups(granularity, start, finer)}
        for subset in listed:
            finer = self.rollups(account_id, granularity.finer, bucket, subset)
            rollups[subset] = combine_rollups(granularity, start, finer)
        return rollups

    def correct_item(
        self, key: Item, right: Mapping[UUID, IndexEntry], wrong: Mapping[UUID, int]
    ) -> None:
        """Put the right entries into one item, and remove wrong ones.

        Entries of newer revisions stay, and `wrong` has the newest revision to remove.
        """
        repeat_write(partial(self._correct_item, key, right, wrong))

    def _correct_item(
        self, key: Item, right: Mapping[UUID, IndexEntry], wrong: Mapping[UUID, int]
    ) -> bool:
        stored = self._stored(key)
        entries = {
            id_: entry
            for id_, entry in stored.entries.items()
            if entry.revision > wrong.get(id_, -1)
        }
        for message_id, entry in right.items():
            current = entries.get(message_id)
            if current is None or current.revision <= entry.revision:
                entries[message_id] = entry
        return entries == stored.entries or self._replace(key, stored, entries)

    def _newest_entry(self, account_id: str) -> IndexEntry | None:
        first, last = keys.entries(account_id, 0), keys.entries(account_id, keys.LATEST)
        items = self._table.query(first, last, newest_first=True, limit=1)
        return max((entry for item in items for entry in unpack(item)), key=_creation, default=None)

    def _read(
        self, time_range: TimeRange, key: Callable[[int], Item], span: int = ITEM_SPAN
    ) -> Iterable[IndexEntry]:
        if time_range.is_empty:
            return
        first = time_range.since // span * span
        for item in self._table.query(key(first), key(last_moment(time_range.until))):
            yield from unpack(item)

    def _merge(
        self, account_id: str, by_item: Mapping[int, Sequence[IndexEntry]]
    ) -> dict[int, Sequence[IndexEntry]]:
        """Merge changes into items by creation, after their copies by status and update.

        All changes of a copy are one write. Return the changes of the items that another
        writer changed in between.
        """
        copies: defaultdict[tuple[str, int], _CopyChange] = defaultdict(_CopyChange)
        merged: dict[int, tuple[_StoredEntries, dict[UUID, IndexEntry]]] = {}
        for moment, changes in sorted(by_item.items()):
            stored = self._stored(keys.entries(account_id, moment))
            entries = _merged(stored.entries, changes, copies)
            if entries != stored.entries:
                merged[moment] = (stored, entries)
        for (group, moment), copy in copies.items():
            repeat_write(partial(self._change_copy, keys.updates(account_id, group, moment), copy))
        return {
            moment: by_item[moment]
            for moment, (stored, entries) in merged.items()
            if not self._replace(keys.entries(account_id, moment), stored, entries)
        }

    def _change_copy(self, key: Item, change: "_CopyChange") -> bool:
        stored = self._stored(key)
        entries = {
            id_: entry
            for id_, entry in stored.entries.items()
            if entry.revision >= change.older_than.get(id_, 0)
        }
        for id_, entry in change.added.items():
            entries[id_] = max(entry, entries.get(id_, entry), key=_revision)
        return entries == stored.entries or self._replace(key, stored, entries)

    def _stored(self, key: Item) -> "_StoredEntries":
        item = self._table.get(key)
        if item is None:
            return _StoredEntries(None, {})
        return _StoredEntries(item["entries"], {entry.message_id: entry for entry in unpack(item)})

    def _replace(
        self, key: Item, stored: "_StoredEntries", entries: Mapping[UUID, IndexEntry]
    ) -> bool:
        """Replace an item if it still has the bytes that were read; return False if not."""
        condition, values = "attribute_not_exists(pk)", None
        if stored.packed is not None:
            condition, values = "entries = :seen", {":seen": stored.packed}
        try:
            if entries:
                self._table.put(key | pack(entries.values()), condition=condition, values=values)
            else:
                self._table.delete(key, condition=condition, values=values)
        except ConditionFailed:
            return False
        return True


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


@dataclass(frozen=True, slots=True)
class _StoredEntries:
    """The entries of an item, and the bytes that hold them (None if there is no item)."""

    packed: bytes | None
    entries: Mapping[UUID, IndexEntry]


@dataclass(slots=True)
class _CopyChange:
    """What to change in an item by status and update: never the copy of a newer revision.

    Attributes:
        older_than: message -> a revision; copies of older ones are removed.
        added: copies to add.
    """

    older_than: dict[UUID, int] = field(default_factory=dict)
    added: dict[UUID, IndexEntry] = field(default_factory=dict)


def _merged(
    stored: Mapping[UUID, IndexEntry],
    changes: Iterable[IndexEntry],
    copies: defaultdict[tuple[str, int], _CopyChange],
) -> dict[UUID, IndexEntry]:
    """Return the entries of an item after some changes, and add those of their copies."""
    changes_by_id: defaultdict[UUID, list[IndexEntry]] = defaultdict(list)
    for change in changes:
        changes_by_id[change.message_id].append(change)
    entries = dict(stored)
    for message_id, revisions in changes_by_id.items():
        old, new = entries.get(message_id), max(revisions, key=_revision)
        if old is None or (
            old.revision < new.revision and replace(old, revision=new.revision) != new
        ):
            copies[copy_place(new)].added[message_id] = as_copy(new)
            entries[message_id] = new
        # An earlier attempt may have left any of these revisions in a copy, and another writer
        # a newer one in the item since then.
        current = entries[message_id].revision
        for other in [*revisions, *([old] if old else [])]:
            if other.revision < current:
                copies[copy_place(other)].older_than[message_id] = current
    return entries


def _creation(entry: IndexEntry) -> int:
    return entry.created


def _revision(entry: IndexEntry) -> int:
    return entry.revision


def place(entry: IndexEntry) -> int:
    """Return the moment in the key of the item by creation that holds an entry."""
    return _moment(entry, entry.created)


def copy_place(entry: IndexEntry) -> tuple[str, int]:
    """Return the group and the moment in the key of the item by status and update."""
    is_later = Granularity.HOUR.start(entry.updated) != Granularity.HOUR.start(entry.created)
    group = later_group(entry.status) if is_later else entry.status.value
    return group, _moment(entry, entry.updated)


def as_copy(entry: IndexEntry) -> IndexEntry:
    """Return an entry as items by status and update have it.

    Most messages are delivered in their first hour, and a page that is looking for few of a
    subset's messages is not looking for these. So their list has no key and no template. No list
    has waits and shapes, which only rollups count.
    """
    group, _ = copy_place(entry)
    if group == Status.DELIVERED.value:
        return replace(entry, key_id=None, template=None, wait=0, shape=None)
    return replace(entry, wait=0, shape=None)


def _moment(entry: IndexEntry, at: int) -> int:
    """Return the start of the span of an item; each shard adds another number of milliseconds."""
    if entry.is_sharded:
        return at // SHARD_SPAN * SHARD_SPAN + 1 + shard_of(entry.message_id)
    return at // ITEM_SPAN * ITEM_SPAN


def last_moment(until: int) -> int:
    """Return the highest moment in the keys of items with entries from before a time."""
    return (until - 1) // SHARD_SPAN * SHARD_SPAN + MAX_SHARDS


def later_group(status: Status) -> str:
    """Return the group of the entries of a status that were updated in a later hour."""
    return f"{status.value}-later"
