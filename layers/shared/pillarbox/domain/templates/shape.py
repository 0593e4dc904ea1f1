"""The shape of the variables of a send: their names and kinds, never their values.

A record of an email by a saved template has it, so that an author learns before a publication
which sends would lack a value. It is JSON without what follows from the rest:
`{items:[{price}],name,order:{id}}`.

* A name alone has a value of any other kind. Null is not a value (`saved.missing_values`).
* A list has what all its entries have: `[{}]` if that is nothing, `[]` if it has no entries.
* Only names that a template can refer to are in it. So an address that is a name is not.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from pillarbox.domain.errors import Json

#: Stands for shapes that are too long, or too many.
OTHER_SHAPE: Final = "*"
#: Characters. An email with ten variables needs about a hundred.
MAX_SHAPE: Final = 250
#: The most that an item of the statistics tells apart, so that its size is bounded.
MAX_SHAPES: Final = 50
_NAME: Final = r"\w{1,60}"
#: The value of a name that is neither an object nor a list.
_VALUE: Final = 1


def shape_of(variables: Mapping[str, Json]) -> str:
    """Return the shape of variables; `*` if it is too long."""
    text = json.dumps(_skeleton(dict(variables)), sort_keys=True, separators=(",", ":"))
    shape = text.replace(f":{_VALUE}", "").replace('"', "")
    return shape if len(shape) <= MAX_SHAPE else OTHER_SHAPE


def values_of(shape: str) -> dict[str, Json] | None:
    """Return values that have a shape; None if it is not known."""
    if shape == OTHER_SHAPE:
        return None
    quoted = re.sub(r"(\w+)(:?)", lambda m: f'"{m[1]}":' + ("" if m[2] else str(_VALUE)), shape)
    values: dict[str, Json] = json.loads(quoted)
    return values


def bounded_shapes(counts: Mapping[str, int]) -> Counter[str]:
    """Return the counts of the most frequent shapes, and those of the others together."""
    if len(counts) <= MAX_SHAPES:
        return Counter(counts)
    ranked = sorted(counts.items(), key=lambda one: (one[0] == OTHER_SHAPE, -one[1], one[0]))
    kept = Counter(dict(ranked[: MAX_SHAPES - 1]))
    kept[OTHER_SHAPE] = sum(count for _, count in ranked[MAX_SHAPES - 1 :])
    return kept


def numbered_shapes(shapes: Iterable[str | None]) -> tuple[list[str], bytes]:
    """Return the first shapes of a list, and for each of its members the number of its shape.

    Numbers begin at 1; 0 stands for None.
    """
    numbers: dict[str, int] = {}
    members = bytearray()
    for shape in shapes:
        if shape is None:
            members.append(0)
            continue
        known = shape if shape in numbers or len(numbers) < MAX_SHAPES - 1 else OTHER_SHAPE
        members.append(numbers.setdefault(known, len(numbers) + 1))
    return [*numbers], bytes(members)


def _skeleton(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            name: _skeleton(member)
            for name, member in value.items()
            if member is not None and re.fullmatch(_NAME, name, re.ASCII)
        }
    if isinstance(value, list) and value:
        shared = _skeleton(value[0])
        for entry in value[1:]:
            shared = _shared(shared, _skeleton(entry))
        return [shared if isinstance(shared, dict) else {}]
    return [] if isinstance(value, list) else _VALUE


def _shared(one: Json, other: Json) -> Json:
    match one, other:
        case dict(), dict():
            return {name: _shared(one[name], other[name]) for name in one if name in other}
        case list(), list():
            return [_shared(one[0], other[0])] if one and other else one or other
    return _VALUE
