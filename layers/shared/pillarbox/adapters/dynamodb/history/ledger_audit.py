"""Compare the items of a ledger with those that an account's index entries make."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.history.ledger import (
    ITEM_SPAN,
    DynamoLedger,
    as_copy,
    copy_place,
    last_moment,
    later_group,
    place,
)
from pillarbox.adapters.dynamodb.history.ledger_format import (
    LAST_REVISION,
    pack,
    rollup_attributes,
    rollup_of,
    subset_attributes,
    subsets_of,
    unpack,
)
from pillarbox.adapters.dynamodb.table import ConditionFailed, Item, Store
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.message import Status
from pillarbox.domain.messages.statistics import (
    Granularity,
    IndexEntry,
    Rollup,
    Subset,
    TimeRange,
    combine_rollups,
    roll_up_entries,
    roll_up_subset,
)


class DynamoLedgerAudit(Store):
    """Implements `history.ports.LedgerAudit`."""

    def entries(self, account_id: str) -> Iterator[IndexEntry]:
        first, last = keys.entries(account_id, 0), keys.entries(account_id, keys.LATEST)
        for item in self._table.query(first, last):
            yield from unpack(item)

    def count_differences(self, account_id: str, entries: Iterable[IndexEntry]) -> int:
        return sum(1 for _ in self._differences(account_id, entries))

    def repair(self, account_id: str, entries: Iterable[IndexEntry]) -> int:
        count = 0
        for difference in self._differences(account_id, entries):
            self._repair(difference)
            count += 1
        return count

    def find_wrong(
        self, account_id: str, created: TimeRange, entries: Mapping[UUID, IndexEntry]
    ) -> set[UUID]:
        expected = {
            message_id: _copies_of(account_id, entry) for message_id, entry in entries.items()
        }
        stored = self._stored_copies(account_id, created, has_messages=bool(entries))
        return {
            message_id
            for message_id in expected.keys() | stored.keys()
            if stored.get(message_id) != expected.get(message_id)
        }

    def correct(
        self, account_id: str, created: TimeRange, entries: Mapping[UUID, IndexEntry | None]
    ) -> None:
        """Correct the copies by status and update first, as the stream's writer does."""
        stored = self._stored_copies(account_id, created, has_messages=True)
        right: defaultdict[str, dict[UUID, IndexEntry]] = defaultdict(dict)
        wrong: defaultdict[str, dict[UUID, int]] = defaultdict(dict)
        for message_id, entry in entries.items():
            copies = _copies_of(account_id, entry) if entry else {}
            for sort_key in stored.get(message_id, {}).keys() - copies.keys():
                wrong[sort_key][message_id] = entry.revision if entry else LAST_REVISION
            for sort_key, copy in copies.items():
                revision = entry.revision if entry else 0
                right[sort_key][message_id] = replace(copy, revision=revision)
        ledger, partition = DynamoLedger(self._table), keys.entries(account_id, 0)["pk"]
        for sort_key in sorted(right.keys() | wrong.keys(), key=keys.is_by_creation):
            key = {"pk": partition, "sk": {"S": sort_key}}
            ledger.correct_item(key, right.get(sort_key, {}), wrong.get(sort_key, {}))

    def _stored_copies(
        self, account_id: str, created: TimeRange, *, has_messages: bool
    ) -> dict[UUID, "_Copies"]:
        """Return the entries of the messages created in a time range, by id and sort key.

        Entries that were updated in the hour of their creation are in the lists of that hour,
        the others in those of any later hour. An account that neither has messages nor entries
        in the range costs one query.
        """
        start = created.since // ITEM_SPAN * ITEM_SPAN
        first = keys.entries(account_id, start)
        last = keys.entries(account_id, last_moment(created.until))
        items = [*self._table.query(first, last)]
        stored: defaultdict[UUID, _Copies] = defaultdict(dict)
        if items or has_messages:
            for item in chain(items, self._lists(account_id, start, created)):
                for entry in unpack(item, created):
                    stored[entry.message_id][item["sk"]] = replace(entry, revision=0)
        return dict(stored)

    def _lists(
        self, account_id: str, start: int, created: TimeRange
    ) -> Iterator[Mapping[str, Any]]:
        first_hour = TimeRange(start, Granularity.HOUR.ceiling(created.until))
        later = TimeRange(Granularity.HOUR.end(created.since), keys.LATEST)
        for status in Status:
            for group, updated in ((status.value, first_hour), (later_group(status), later)):
                first = keys.updates(account_id, group, updated.since)
                last = keys.updates(account_id, group, updated.until - 1)
                yield from self._table.query(first, last)

    def _differences(
        self, account_id: str, entries: Iterable[IndexEntry]
    ) -> Iterator["_Difference"]:
        missing = items_of(account_id, entries)
        for item in self._items(account_id, missing):
            key = {name: {"S": item[name]} for name in ("pk", "sk")}
            expected = missing.pop((item["pk"], item["sk"]), None)
            if expected is None or not expected.matches(item):
                yield _Difference(key, expected, item)
        for expected in missing.values():
            yield _Difference(expected.key, expected, None)

    def _items(
        self, account_id: str, expected: Iterable[tuple[str, str]]
    ) -> Iterator[Mapping[str, Any]]:
        """Read the partitions of the ledger: the account's, and those of all its subsets."""
        whole = keys.entries(account_id, 0)
        partitions = {pk for pk, _ in expected} - {whole["pk"]["S"]}
        for item in [*self._table.query(whole)]:
            if "subsets" in item:
                of_subsets = [keys.rollups_of(account_id, one) for one in subsets_of(item)]
                partitions |= {key["pk"]["S"] for key in of_subsets}
            yield item
        for pk in sorted(partitions):
            yield from [*self._table.query({"pk": {"S": pk}})]

    def _repair(self, difference: "_Difference") -> None:
        stored, expected = difference.stored, difference.expected
        condition: str | None = "attribute_not_exists(pk)"
        values: dict[str, object] | None = None
        if stored is not None:
            name = "entries" if "entries" in stored else "rev"
            condition, values = f"{name} = :seen", {":seen": stored[name]}
        try:
            if expected is None:
                self._table.delete(difference.key, condition=condition, values=values)
            else:
                revision = stored.get("rev", 0) if stored else 0
                self._table.put(expected.item(revision + 1), condition=condition, values=values)
        except ConditionFailed:
            raise ServiceError(
                "service_unavailable",
                "The statistics changed meanwhile. Nothing is broken: run the command again.",
            ) from None


#: The copies of a message's entry, without their revision, by the sort key of their item.
type _Copies = dict[str, IndexEntry]


def _copies_of(account_id: str, entry: IndexEntry) -> _Copies:
    """Return the two copies of an entry: by creation, and by status and update."""
    by_creation = keys.entries(account_id, place(entry))
    in_list = keys.updates(account_id, *copy_place(entry))
    entry = replace(entry, revision=0)
    return {by_creation["sk"]["S"]: entry, in_list["sk"]["S"]: as_copy(entry)}


@dataclass(frozen=True, slots=True)
class ExpectedEntries:
    """An item of entries as it should be."""

    key: Item
    entries: tuple[IndexEntry, ...]

    def matches(self, item: Mapping[str, Any]) -> bool:
        stored = {replace(entry, revision=0) for entry in unpack(item)}
        return stored == {replace(entry, revision=0) for entry in self.entries}

    def item(self, _: int) -> Item:
        return self.key | pack(self.entries)


@dataclass(frozen=True, slots=True)
class ExpectedRollup:
    """The item of a rollup as it should be."""

    key: Item
    rollup: Rollup

    def matches(self, item: Mapping[str, Any]) -> bool:
        return rollup_of(self.rollup.granularity, item) == self.rollup

    def item(self, revision: int) -> Item:
        return self.key | rollup_attributes(self.rollup, revision)


@dataclass(frozen=True, slots=True)
class ExpectedSubsets:
    """The list of a day's subsets as it should be."""

    key: Item
    subsets: frozenset[Subset]

    def matches(self, item: Mapping[str, Any]) -> bool:
        return {*subsets_of(item)} == self.subsets

    def item(self, revision: int) -> Item:
        return self.key | subset_attributes(self.subsets, revision)


type ExpectedItem = ExpectedEntries | ExpectedRollup | ExpectedSubsets


@dataclass(frozen=True, slots=True)
class _Difference:
    """An item that is stored (or None) and should be another (or None)."""

    key: Item
    expected: ExpectedItem | None
    stored: Mapping[str, Any] | None


def items_of(account_id: str, entries: Iterable[IndexEntry]) -> dict[tuple[str, str], ExpectedItem]:
    """Return all items of a ledger with these entries, by partition key and sort key."""
    entries = [*entries]
    in_item: defaultdict[str, list[IndexEntry]] = defaultdict(list)
    by_subset: defaultdict[Subset | None, list[IndexEntry]] = defaultdict(list)
    for entry in entries:
        in_item[keys.entries(account_id, place(entry))["sk"]["S"]].append(entry)
        copy_key = keys.updates(account_id, *copy_place(entry))
        in_item[copy_key["sk"]["S"]].append(as_copy(entry))
        for subset in (None, *entry.subsets):
            by_subset[subset].append(entry)
    partition = keys.entries(account_id, 0)["pk"]
    items: list[ExpectedItem] = [
        ExpectedEntries({"pk": partition, "sk": {"S": sort_key}}, tuple(group))
        for sort_key, group in in_item.items()
    ]
    open_hour = max((Granularity.HOUR.start(entry.created) for entry in entries), default=0)
    on_day: defaultdict[int, set[Subset]] = defaultdict(set)
    for of_subset, group in by_subset.items():
        for rollup in _rollups(
            group, open_hour, partial(roll_up_subset, of_subset) if of_subset else roll_up_entries
        ):
            key = keys.rollup(account_id, rollup.granularity, rollup.start, of_subset)
            items.append(ExpectedRollup(key, rollup))
            if of_subset and rollup.granularity in _MADE_FROM_ENTRIES:
                on_day[Granularity.DAY.start(rollup.start)].add(of_subset)
    items += [
        ExpectedSubsets(keys.subsets(account_id, day), frozenset(subsets))
        for day, subsets in on_day.items()
    ]
    return {(item.key["pk"]["S"], item.key["sk"]["S"]): item for item in items}


#: An hour of shards is not, but then one of its ten seconds has the same subset.
_MADE_FROM_ENTRIES: Final = {Granularity.TEN_SECONDS, Granularity.HOUR}


def _rollups(
    entries: Iterable[IndexEntry],
    open_hour: int,
    roll_up: Callable[[Granularity, int, Iterable[IndexEntry]], Rollup],
) -> Iterator[Rollup]:
    """Return the rollups of every hour, day and month before the newest entry's hour.

    Before them, return those of ten seconds, for entries in shards at any time.
    """
    in_hour: defaultdict[int, list[IndexEntry]] = defaultdict(list)
    for entry in entries:
        in_hour[Granularity.HOUR.start(entry.created)].append(entry)
    rollups: list[Rollup] = []
    for start, group in in_hour.items():
        hour = roll_up(Granularity.HOUR, start, group)
        parts: defaultdict[int, list[IndexEntry]] = defaultdict(list)
        for entry in group:
            if entry.is_sharded:
                parts[Granularity.TEN_SECONDS.start(entry.created)].append(entry)
        for part_start, part in parts.items():
            yield roll_up(Granularity.TEN_SECONDS, part_start, part)
        rollups.append(replace(hour, is_divisible=bool(parts)))
    for granularity in (Granularity.HOUR, Granularity.DAY, Granularity.MONTH):
        if granularity is not Granularity.HOUR:
            finer: defaultdict[int, list[Rollup]] = defaultdict(list)
            for rollup in rollups:
                finer[granularity.start(rollup.start)].append(rollup)
            rollups = [combine_rollups(granularity, start, group) for start, group in finer.items()]
        rollups = [rollup for rollup in rollups if rollup.created.until <= open_hour]
        yield from rollups
