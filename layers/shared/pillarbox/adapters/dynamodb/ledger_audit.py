"""The ledger held against what it has to be, item by item."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import Item, to_item
from pillarbox.adapters.dynamodb.ledger import (
    SPAN,
    home_of,
    pack,
    tally_of,
    tally_values,
    unpack,
)
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.statistics import Granularity, IndexEntry, Rollup, roll_up, tally


class DynamoLedgerAudit:
    """Fulfils `history_ports.LedgerAudit`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def entries(self, account_id: str) -> Iterator[IndexEntry]:
        """Read all entries by creation."""
        everything = keys.entries(account_id, 0), keys.entries(account_id, keys.LATEST)
        for item in self._table.query(*everything):
            yield from unpack(item)

    def count_wrong(self, account_id: str, entries: Iterable[IndexEntry]) -> int:
        """Count the items that these entries do not make."""
        return sum(1 for _ in self._differences(account_id, entries))

    def repair(self, account_id: str, entries: Iterable[IndexEntry]) -> int:
        """Write the items that these entries make, where they differ."""
        count = 0
        for difference in self._differences(account_id, entries):
            self._repair(difference)
            count += 1
        return count

    def _differences(
        self, account_id: str, entries: Iterable[IndexEntry]
    ) -> Iterator["_Difference"]:
        wanted = items_of(account_id, entries)
        for item in self._table.query(keys.entries(account_id, 0)):
            place = {name: {"S": item[name]} for name in ("pk", "sk")}
            right = wanted.pop(item["sk"], None)
            if right is None or not right.says(item):
                yield _Difference(place, right, item)
        for right in wanted.values():
            yield _Difference(right.place, right, None)

    def _repair(self, difference: "_Difference") -> None:
        seen, right = difference.stored, difference.right
        condition: str | None = "attribute_not_exists(pk)"
        values: dict[str, object] | None = None
        if seen is not None:
            name = "entries" if "entries" in seen else "rev"
            condition, values = f"{name} = :seen", {":seen": seen[name]}
        try:
            if right is None:
                self._table.delete(difference.place, condition=condition, values=values)
            else:
                revision = seen.get("rev", 0) if seen else 0
                self._table.put(right.item(revision + 1), condition=condition, values=values)
        except ConditionFailed:
            raise ServiceError(
                "service_unavailable",
                "The statistics changed meanwhile; nothing is broken, run it again.",
            ) from None


@dataclass(frozen=True, slots=True)
class ExpectedEntries:
    """An item of entries, as it has to be."""

    place: Item
    entries: tuple[IndexEntry, ...]

    def says(self, item: Mapping[str, Any]) -> bool:
        """Whether a stored item says the same, whatever the revisions."""
        stored = {replace(entry, revision=0) for entry in unpack(item)}
        return stored == {replace(entry, revision=0) for entry in self.entries}

    def item(self, _: int) -> Item:
        """The item to be stored."""
        return self.place | pack(self.entries)


@dataclass(frozen=True, slots=True)
class ExpectedRollup:
    """The item of a tally, as it has to be."""

    place: Item
    level: Granularity
    start: int
    tally: Rollup

    def says(self, item: Mapping[str, Any]) -> bool:
        """Whether a stored item says the same."""
        return tally_of(self.level, item) == self.tally

    def item(self, revision: int) -> Item:
        """The item to be stored."""
        return self.place | to_item(
            tally_values(self.level, self.start, self.tally) | {"rev": revision}
        )


@dataclass(frozen=True, slots=True)
class _Difference:
    place: Item
    right: ExpectedEntries | ExpectedRollup | None
    stored: Mapping[str, Any] | None


def items_of(
    account_id: str, entries: Iterable[IndexEntry]
) -> dict[str, ExpectedEntries | ExpectedRollup]:
    """The whole ledger of an account that has these entries, by sort key."""
    groups: defaultdict[str, list[IndexEntry]] = defaultdict(list)
    places: dict[str, Item] = {}
    hours: defaultdict[int, list[IndexEntry]] = defaultdict(list)
    for entry in entries:
        for place in (
            keys.entries(account_id, entry.created // SPAN * SPAN),
            keys.updates(account_id, *home_of(entry)),
        ):
            places[place["sk"]["S"]] = place
            groups[place["sk"]["S"]].append(entry)
        hours[Granularity.HOUR.start(entry.created)].append(entry)
    items: dict[str, ExpectedEntries | ExpectedRollup] = {
        sort_key: ExpectedEntries(places[sort_key], tuple(group))
        for sort_key, group in groups.items()
    }
    tallies = {start: tally(Granularity.HOUR, group) for start, group in hours.items()}
    horizon = max(tallies, default=0)
    for level in Granularity:
        if level is not Granularity.HOUR:
            parts: defaultdict[int, list[Rollup]] = defaultdict(list)
            for start, part in tallies.items():
                parts[level.start(start)].append(part)
            tallies = {start: roll_up(level, several) for start, several in parts.items()}
        tallies = {start: each for start, each in tallies.items() if level.end(start) <= horizon}
        for start, each in tallies.items():
            place = keys.tally(account_id, level, start)
            items[place["sk"]["S"]] = ExpectedRollup(place, level, start, each)
    return items
