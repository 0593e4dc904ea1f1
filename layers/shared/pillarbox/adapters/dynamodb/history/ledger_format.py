"""The attributes of the ledger's items: packed index entries, and rollups.

An entry takes 26 bytes: reading entries costs a twentieth of reading records. An item also says
which key and which template each of its messages came from, if that is known: the names once, and
for each entry the two numbers of its names, of one byte each, or of two if there are many names.
A rollup of a subset has the entries of its messages (`few`), if they are few. Messages to several
recipients, or to such as do not count, have five bytes more (`more`). Those that were sent have a
byte that says how long they waited (`waits`). If some have a shape of variables, each has the
number of its shape in one byte (`given`), and the item has the shapes once (`shapes`): 50 at most.
"""

import struct
from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import Item, to_item
from pillarbox.domain.messages.message import Status
from pillarbox.domain.messages.statistics import (
    NO_RECIPIENTS,
    REACHABLE,
    Granularity,
    IndexEntry,
    RecipientCounts,
    Rollup,
    Subset,
    SubsetKind,
    TimeRange,
)
from pillarbox.domain.templates.shape import numbered_shapes

#: Message id, revision, time of the last update (two parts), status and reached, error.
_ENTRY: Final = struct.Struct(">16sHHIBB")
LAST_REVISION: Final = 2**16 - 1
#: The number of an error code is one byte; 0 means none.
_MAX_ERRORS: Final = 254
_OTHER: Final = "other"
#: The numbers of a key and a template, where 0 means none.
_ORIGIN: Final = struct.Struct(">BB")
_WIDE_ORIGIN: Final = struct.Struct(">HH")
_MAX_NARROW: Final = 255
#: The position of an entry in its item, and what its recipients add to the counts.
_MORE: Final = struct.Struct(">Hbbb")
#: The number of a span, and how many messages of a rollup waited for as long.
_WAITS: Final = struct.Struct(">BI")

#: By their number in a packed entry: append only.
_STATUSES: Final = (
    Status.PENDING,
    Status.SENT,
    Status.DELIVERED,
    Status.BOUNCED,
    Status.COMPLAINED,
    Status.FAILED,
)
_STATUS_NUMBERS: Final = {status: number for number, status in enumerate(_STATUSES)}
_STATUS_BY_INITIAL: Final = {status.value[0]: status for status in Status}
_REACHED_BY_MASK: Final = tuple(
    frozenset(status for bit, status in enumerate(REACHABLE) if mask >> bit & 1)
    for mask in range(2 ** len(REACHABLE))
)
_REACHED_MASKS: Final = {reached: mask for mask, reached in enumerate(_REACHED_BY_MASK)}


def pack(entries: Iterable[IndexEntry]) -> Item:
    """Return entries as attributes, in the order of their ids."""
    codes: dict[str, int] = {}
    packed = bytearray()
    in_order = sorted(entries, key=lambda entry: entry.message_id.int)
    for entry in in_order:
        number = 0
        if entry.error is not None:
            code = entry.error if len(codes) < _MAX_ERRORS or entry.error in codes else _OTHER
            number = codes.setdefault(code, len(codes) + 1)
        packed += _ENTRY.pack(
            entry.message_id.bytes,
            min(entry.revision, LAST_REVISION),
            entry.updated >> 32,
            entry.updated & 0xFFFFFFFF,
            _STATUS_NUMBERS[entry.status] | _REACHED_MASKS[entry.reached] << 3,
            number,
        )
    more = b"".join(
        _MORE.pack(position, *_triple(entry.more))
        for position, entry in enumerate(in_order)
        if entry.more != NO_RECIPIENTS
    )
    waits = bytes(entry.wait for entry in in_order)
    shapes, given = numbered_shapes(entry.shape for entry in in_order)
    attributes = {
        "entries": bytes(packed),
        "errors": [*codes] or None,
        "more": more or None,
        "waits": waits if any(waits) else None,
        "shapes": shapes or None,
        "given": given if shapes else None,
    }
    return to_item(attributes | _pack_origins(in_order))


def _triple(counts: RecipientCounts) -> tuple[int, int, int]:
    return counts.sent, counts.bounced, counts.complained


def _pack_origins(entries: Iterable[IndexEntry]) -> dict[str, object]:
    """Return the attributes with the keys and templates of entries, if there are any."""
    names: tuple[dict[str | None, int], ...] = ({None: 0}, {None: 0})
    numbers = [
        [
            of_kind.setdefault(name, len(of_kind))
            for of_kind, name in zip(names, (entry.key_id, entry.template), strict=True)
        ]
        for entry in entries
    ]
    keys_of_item, templates = ([*of_kind][1:] for of_kind in names)
    if not keys_of_item and not templates:
        return {}
    is_narrow = max(map(len, names)) <= _MAX_NARROW + 1
    form = _ORIGIN if is_narrow else _WIDE_ORIGIN
    return {
        "origins": b"".join(form.pack(*pair) for pair in numbers),
        "keys": keys_of_item or None,
        "templates": templates or None,
    }


def _unpack_origins(item: Mapping[str, Any]) -> Iterable[tuple[str | None, str | None]]:
    """Return the key and the template of each entry of an item."""
    packed: bytes | None = item.get("origins")
    if packed is None:
        return repeat((None, None))
    names_of_keys, templates = [None, *item.get("keys", ())], [None, *item.get("templates", ())]
    count = len(item["entries"]) // _ENTRY.size
    form = _ORIGIN if len(packed) == count * _ORIGIN.size else _WIDE_ORIGIN
    return ((names_of_keys[key], templates[name]) for key, name in form.iter_unpack(packed))


def unpack(item: Mapping[str, Any], created: TimeRange | None = None) -> Iterable[IndexEntry]:
    """Return the entries of an item, or only those of messages created in a time range."""
    codes = [None, *item.get("errors", ())]
    more = {
        at: RecipientCounts(*triple) for at, *triple in _MORE.iter_unpack(item.get("more", b""))
    }
    waits: Iterable[int] = item.get("waits") or repeat(0)
    entries = _ENTRY.iter_unpack(item["entries"])
    shapes, given = [None, *item.get("shapes", ())], item.get("given") or repeat(0)
    packed = zip(entries, _unpack_origins(item), waits, given, strict=False)
    for position, (fields, (key_id, template), wait, shape) in enumerate(packed):
        id_bytes, revision, high, low, state, error = fields
        if created is not None and int.from_bytes(id_bytes[:6]) not in created:
            continue
        yield IndexEntry(
            UUID(bytes=id_bytes),
            revision,
            _STATUSES[state & 0b111],
            high << 32 | low,
            _REACHED_BY_MASK[state >> 3],
            codes[error],
            key_id,
            template,
            more.get(position, NO_RECIPIENTS),
            wait,
            shapes[shape],
        )


def rollup_attributes(rollup: Rollup, revision: int) -> Item:
    """Return a rollup as attributes.

    The name of a cell is the initial of its status, and how many buckets after
    its creation the message was last updated.
    """
    granularity = rollup.granularity
    first = granularity.bucket_number(rollup.start)
    cells = {
        f"{status.value[0]}{granularity.bucket_number(updated) - first}": n
        for (status, updated), n in rollup.by_status_and_update.items()
    }
    few = {"few": pack(rollup.entries)["entries"]} if rollup.entries else {}
    waits = b"".join(_WAITS.pack(*each) for each in sorted(rollup.waits.items()))
    return few | to_item(
        {
            "cells": cells,
            "reached": [rollup.reached[status] for status in REACHABLE],
            "errors": dict(rollup.errors) or None,
            "more": None if rollup.more == NO_RECIPIENTS else _triple(rollup.more),
            "waits": waits or None,
            "shapes": dict(rollup.shapes) or None,
            "rev": revision,
            # Only an hour may be of either kind.
            "divisible": rollup.is_divisible
            if rollup.granularity is Granularity.HOUR and rollup.is_divisible
            else None,
        }
    )


def rollup_of(granularity: Granularity, item: Mapping[str, Any]) -> Rollup:
    always = granularity in {Granularity.DAY, Granularity.MONTH}
    rollup = Rollup(
        granularity, keys.moment(item), is_divisible=always or item.get("divisible", False)
    )
    first = granularity.bucket_number(rollup.start)
    for name, n in item["cells"].items():
        updated = granularity.bucket_start(first + int(name[1:]))
        rollup.by_status_and_update[_STATUS_BY_INITIAL[name[0]], updated] = n
    rollup.reached.update(dict(zip(REACHABLE, item["reached"], strict=True)))
    rollup.errors.update(item.get("errors", {}))
    rollup.more = RecipientCounts(*item.get("more", ()))
    rollup.waits.update(dict(_WAITS.iter_unpack(item.get("waits", b""))))
    rollup.shapes.update(item.get("shapes", {}))
    rollup.entries = tuple(unpack({"entries": item.get("few", b"")}))
    return rollup


def subset_attributes(subsets: Iterable[Subset], revision: int) -> Item:
    names = [f"{subset.kind.value}#{subset.id}" for subset in sorted(subsets)]
    return to_item({"subsets": names, "rev": revision})


def subsets_of(item: Mapping[str, Any]) -> Iterable[Subset]:
    for name in item["subsets"]:
        kind, _, subset_id = name.partition("#")
        yield Subset(SubsetKind(kind), subset_id)
