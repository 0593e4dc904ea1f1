"""The ledger of an account: its messages in small, in the order they were made and updated.

An entry is 26 bytes, and the entries of half a minute share an item: what a
query has to skip or count costs a twentieth of reading records, and what a
batch of changes writes is little more than their bytes. Each entry is in two
items:

* by creation: the truth of what was counted. An entry here is replaced only by
  one of a later revision of its message, so taking a change twice, in parts or
  out of order does no harm.
* by status and update: a copy, written first. What a failure leaves of it is
  put right when the change comes again, since the truth still has the old entry.
  Those few that were updated in a later hour than they were created in are kept
  apart, so that the many others are found by their creation here too.

Tallies are sums over these and never counted up, so that they cannot drift.
"""

import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import Item, to_item
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.application.history.ports import TimeRange
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.message import Status
from pillarbox.domain.statistics import REACHABLE, Granularity, IndexEntry, Rollup, roll_up, tally

#: What shares an item, in milliseconds. Items must stay below DynamoDB's 400 KB: 15,000
#: entries, 500 a second, which is beyond what one partition takes of an account's mail.
SPAN: Final = 30_000
#: Message id, revision, time of the last update (two parts), status and reached, error.
_PACKED: Final = struct.Struct(">16sHHIBB")
_LAST_REVISION: Final = 2**16 - 1
#: A code's number is a byte; 0 is none.
_MOST_ERRORS: Final = 254
_OTHER: Final = "other"
#: Writers of one item at a time are one or two: who was overtaken so often is not alone.
_TRIES: Final = 10

#: By position in a packed entry: append only.
_STATUSES: Final = (
    Status.PENDING,
    Status.SENT,
    Status.DELIVERED,
    Status.BOUNCED,
    Status.COMPLAINED,
    Status.FAILED,
)
_NUMBERS: Final = {status: number for number, status in enumerate(_STATUSES)}
_INITIALS: Final = {status.value[0]: status for status in Status}
_MASKS: Final = tuple(
    frozenset(status for bit, status in enumerate(REACHABLE) if mask >> bit & 1)
    for mask in range(2 ** len(REACHABLE))
)
_BITS: Final = {reached: mask for mask, reached in enumerate(_MASKS)}


class DynamoLedger:
    """Fulfils `history_ports.Ledger`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def newest_entry(self, account_id: str) -> int | None:
        """Read the last item of entries."""
        everything = keys.entries(account_id, 0), keys.entries(account_id, keys.LATEST)
        for item in self._table.query(*everything, newest_first=True, limit=1):
            return max(entry.created for entry in unpack(item))
        return None

    def entries_created(self, account_id: str, since: int, until: int) -> list[IndexEntry]:
        """Read the entries by creation."""
        return [
            entry
            for entry in self._read(since, until, partial(keys.entries, account_id))
            if since <= entry.created < until
        ]

    def entries_updated(
        self, account_id: str, status: Status, since: int, until: int, created: TimeRange
    ) -> list[IndexEntry]:
        """Read the entries by status and update: those of the hour of their creation, the late."""
        prompt = (
            max(since, Granularity.HOUR.start(created[0])),
            min(until, Granularity.HOUR.ceiling(created[1])),
        )
        late = max(since, created[0]), until
        return [
            entry
            for stretch, home in ((prompt, status.value), (late, _late(status)))
            for entry in self._read(*stretch, partial(keys.updates, account_id, home))
            if since <= entry.updated < until and created[0] <= entry.created < created[1]
        ]

    def rollups(
        self, account_id: str, level: Granularity, since: int, until: int
    ) -> Mapping[int, Rollup]:
        """Read the tallies of a level."""
        if since >= until:
            return {}
        first = keys.tally(account_id, level, since)
        last = keys.tally(account_id, level, until - 1)
        return {keys.moment(item): tally_of(level, item) for item in self._table.query(first, last)}

    def put_entries(self, account_id: str, images: Iterable[IndexEntry]) -> None:
        """Merge images in, item by item."""
        groups: defaultdict[int, list[IndexEntry]] = defaultdict(list)
        for image in images:
            groups[image.created // SPAN * SPAN].append(image)
        for start, group in sorted(groups.items()):
            _until_done(lambda start=start, group=group: self._enter(account_id, start, group))  # type: ignore[misc]

    def roll_up(self, account_id: str, level: Granularity, start: int) -> None:
        """Tally a bucket anew, unless that is what it says already."""
        _until_done(lambda: self._roll_up(account_id, level, start))

    def _read(self, since: int, until: int, key: Callable[[int], Item]) -> Iterable[IndexEntry]:
        if since >= until:
            return
        for item in self._table.query(key(since // SPAN * SPAN), key(until - 1)):
            yield from unpack(item)

    def _enter(self, account_id: str, start: int, images: Sequence[IndexEntry]) -> bool:
        place = keys.entries(account_id, start)
        stored = self._stored(place)
        history: defaultdict[UUID, list[IndexEntry]] = defaultdict(list)
        for image in images:
            history[image.message_id].append(image)
        moves: defaultdict[tuple[str, int], _Moves] = defaultdict(_Moves)
        entries = dict(stored.entries)
        for message_id, seen in history.items():
            before, after = entries.get(message_id), max(seen, key=lambda image: image.revision)
            if before is not None and (
                before.revision >= after.revision
                or replace(before, revision=after.revision) == after
            ):
                continue
            # An earlier try may have left any of the images in the copy.
            for past in [*seen, *([before] if before else [])]:
                moves[home_of(past)].gone.add(message_id)
            moves[home_of(after)].come[message_id] = after
            entries[message_id] = after
        for home, move in moves.items():
            copy = keys.updates(account_id, *home)
            _until_done(lambda copy=copy, move=move: self._move(copy, move))  # type: ignore[misc]
        return entries == stored.entries or self._replace(place, stored, entries)

    def _move(self, place: Item, move: "_Moves") -> bool:
        stored = self._stored(place)
        kept = {key: entry for key, entry in stored.entries.items() if key not in move.gone}
        entries = kept | move.come
        return entries == stored.entries or self._replace(place, stored, entries)

    def _stored(self, place: Item) -> "_Stored":
        item = self._table.get(place)
        if item is None:
            return _Stored(None, {})
        return _Stored(item["entries"], {entry.message_id: entry for entry in unpack(item)})

    def _replace(self, place: Item, stored: "_Stored", entries: Mapping[UUID, IndexEntry]) -> bool:
        """Write an item over the very bytes that were read; False when they are others now."""
        condition, values = "attribute_not_exists(pk)", None
        if stored.packed is not None:
            condition, values = "entries = :seen", {":seen": stored.packed}
        try:
            if entries:
                self._table.put(place | pack(entries.values()), condition=condition, values=values)
            else:
                self._table.delete(place, condition=condition, values=values)
        except ConditionFailed:
            return False
        return True

    def _roll_up(self, account_id: str, level: Granularity, start: int) -> bool:
        place = keys.tally(account_id, level, start)
        item = self._table.get(place)
        result = self.sum_of(account_id, level, start)
        if result == (tally_of(level, item) if item else Rollup()):
            return True
        revision = item["rev"] if item else 0
        written = place | to_item(tally_values(level, start, result) | {"rev": revision + 1})
        condition, values = "attribute_not_exists(pk)", None
        if item:
            condition, values = "rev = :seen", {":seen": revision}
        with suppress(ConditionFailed):
            self._table.put(written, condition=condition, values=values)
            return True
        return False

    def sum_of(self, account_id: str, level: Granularity, start: int) -> Rollup:
        """What the tally of a bucket has to say."""
        end = level.end(start)
        if level.finer is None:
            return tally(level, self.entries_created(account_id, start, end))
        return roll_up(level, self.rollups(account_id, level.finer, start, end).values())


@dataclass(frozen=True, slots=True)
class _Stored:
    packed: bytes | None
    entries: Mapping[UUID, IndexEntry]


@dataclass(slots=True)
class _Moves:
    gone: set[UUID] = field(default_factory=set)
    come: dict[UUID, IndexEntry] = field(default_factory=dict)


def home_of(entry: IndexEntry) -> tuple[str, int]:
    """Where an entry is among those by status and update."""
    late = Granularity.HOUR.start(entry.updated) != Granularity.HOUR.start(entry.created)
    return _late(entry.status) if late else entry.status.value, entry.updated // SPAN * SPAN


def _late(status: Status) -> str:
    return f"{status.value}-late"


def _until_done(write: Callable[[], bool]) -> None:
    if not any(write() for _ in range(_TRIES)):
        raise ServiceError("service_unavailable", "The statistics are being written by others.")


def pack(entries: Iterable[IndexEntry]) -> Item:
    """Write entries, in the order of their ids."""
    codes: dict[str, int] = {}
    packed = bytearray()
    for entry in sorted(entries, key=lambda entry: entry.message_id.int):
        number = 0
        if entry.error is not None:
            code = entry.error if len(codes) < _MOST_ERRORS or entry.error in codes else _OTHER
            number = codes.setdefault(code, len(codes) + 1)
        packed += _PACKED.pack(
            entry.message_id.bytes,
            min(entry.revision, _LAST_REVISION),
            entry.updated >> 32,
            entry.updated & 0xFFFFFFFF,
            _NUMBERS[entry.status] | _BITS[entry.reached] << 3,
            number,
        )
    return to_item({"entries": bytes(packed), "errors": [*codes] or None})


def unpack(item: Mapping[str, Any]) -> Iterable[IndexEntry]:
    """Read entries."""
    codes = [None, *item.get("errors", ())]
    for key, revision, high, low, state, error in _PACKED.iter_unpack(item["entries"]):
        yield IndexEntry(
            UUID(bytes=key),
            revision,
            _STATUSES[state & 0b111],
            high << 32 | low,
            _MASKS[state >> 3],
            codes[error],
        )


def tally_values(level: Granularity, start: int, tally: Rollup) -> dict[str, object]:
    """Write a tally; a cell is named after its status and how many buckets later it was updated."""
    first = level.number(start)
    cells = {
        f"{status.value[0]}{level.number(updated) - first}": n
        for (status, updated), n in tally.cells.items()
    }
    return {
        "cells": cells,
        "reached": [tally.reached[status] for status in REACHABLE],
        "errors": dict(tally.errors) or None,
    }


def tally_of(level: Granularity, item: Mapping[str, Any]) -> Rollup:
    """Read a tally."""
    first = level.number(keys.moment(item))
    result = Rollup()
    for name, n in item["cells"].items():
        result.cells[_INITIALS[name[0]], level.first_moment(first + int(name[1:]))] = n
    result.reached.update(dict(zip(REACHABLE, item["reached"], strict=True)))
    result.errors.update(item.get("errors", {}))
    return result
