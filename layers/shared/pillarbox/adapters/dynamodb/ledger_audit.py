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
from pillarbox.domain.statistics import Entry, Level, Tally, roll_up, tally


class DynamoLedgerAudit:
    """Fulfils `history_ports.LedgerAudit`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def entries(self, account_id: str) -> Iterator[Entry]:
        """Read all entries by creation."""
        everything = keys.entries(account_id, 0), keys.entries(account_id, keys.LATEST)
        for item in self._table.query(*everything):
            yield from unpack(item)

    def wrong(self, account_id: str, entries: Iterable[Entry]) -> int:
        """Count the items that these entries do not make."""
        return sum(1 for _ in self._differences(account_id, entries))

    def set(self, account_id: str, entries: Iterable[Entry]) -> int:
        """Write the items that these entries make, where they differ."""
        count = 0
        for difference in self._differences(account_id, entries):
            self._repair(difference)
            count += 1
        return count

    def _differences(self, account_id: str, entries: Iterable[Entry]) -> Iterator["_Difference"]:
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
class Entries:
    """An item of entries, as it has to be."""

    place: Item
    entries: tuple[Entry, ...]

    def says(self, item: Mapping[str, Any]) -> bool:
        """Whether a stored item says the same, whatever the revisions."""
        stored = {replace(entry, revision=0) for entry in unpack(item)}
        return stored == {replace(entry, revision=0) for entry in self.entries}

    def item(self, _: int) -> Item:
        """The item to be stored."""
        return self.place | pack(self.entries)


@dataclass(frozen=True, slots=True)
class Tallied:
    """The item of a tally, as it has to be."""

    place: Item
    level: Level
    start: int
    tally: Tally

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
    right: Entries | Tallied | None
    stored: Mapping[str, Any] | None


def items_of(account_id: str, entries: Iterable[Entry]) -> dict[str, Entries | Tallied]:
    """The whole ledger of an account that has these entries, by sort key."""
    groups: defaultdict[str, list[Entry]] = defaultdict(list)
    places: dict[str, Item] = {}
    hours: defaultdict[int, list[Entry]] = defaultdict(list)
    for entry in entries:
        for place in (
            keys.entries(account_id, entry.created // SPAN * SPAN),
            keys.updates(account_id, *home_of(entry)),
        ):
            places[place["sk"]["S"]] = place
            groups[place["sk"]["S"]].append(entry)
        hours[Level.HOUR.start(entry.created)].append(entry)
    items: dict[str, Entries | Tallied] = {
        sort_key: Entries(places[sort_key], tuple(group)) for sort_key, group in groups.items()
    }
    tallies = {start: tally(Level.HOUR, group) for start, group in hours.items()}
    horizon = max(tallies, default=0)
    for level in Level:
        if level is not Level.HOUR:
            parts: defaultdict[int, list[Tally]] = defaultdict(list)
            for start, part in tallies.items():
                parts[level.start(start)].append(part)
            tallies = {start: roll_up(level, several) for start, several in parts.items()}
        tallies = {start: each for start, each in tallies.items() if level.end(start) <= horizon}
        for start, each in tallies.items():
            place = keys.tally(account_id, level, start)
            items[place["sk"]["S"]] = Tallied(place, level, start, each)
    return items
