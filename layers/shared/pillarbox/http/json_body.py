"""JSON as strict as mail deserves: what two parsers could read differently is refused."""

import json
import math
from typing import Any, Final, NoReturn

from pillarbox.domain.errors import FieldFault, Json, ValidationFailed

MAX_DEPTH: Final = 32


def parse_json(raw: bytes) -> Json:
    """Parse a JSON text (RFC 8259) in UTF-8.

    Duplicate names, NaN and infinities, numbers beyond what a double or 4,300
    digits hold, lone surrogates, a byte order mark, and more than 32 levels
    are refused.

    Raises:
        ValidationFailed: with one fault on the body as a whole (field "").
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        _refuse("the body is not UTF-8")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
        )
    except RecursionError:
        _refuse(f"the body is nested deeper than {MAX_DEPTH} levels")
    except json.JSONDecodeError as error:
        _refuse(f"the body is not JSON: {error.msg} at character {error.pos}")
    except ValueError:  # an integer of more digits than Python converts
        _refuse("the body has a number that is too large")
    _check(value, MAX_DEPTH)
    return value  # type: ignore[no-any-return]


def canonical(value: Json) -> bytes:
    """Write a JSON value in one way: names sorted, no white space."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def depth_of(value: Json) -> int:
    """How many levels of arrays and objects a value has."""
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        _refuse(f"the name {_shown(twice)} stands twice in one object")
    return names


def _constant(name: str) -> NoReturn:
    _refuse(f"{name} is not JSON")


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        _refuse("the body has a number that is too large")
    return value


def _check(value: Json, levels: int) -> None:
    """Bound the depth, and look for text that UTF-8 cannot carry."""
    match value:
        case str():
            if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
                _refuse("the body has a lone surrogate")
        case dict() | list():
            if levels == 0:
                _refuse(f"the body is nested deeper than {MAX_DEPTH} levels")
            if isinstance(value, dict):
                for name in value:
                    _check(name, levels)
            for item in value.values() if isinstance(value, dict) else value:
                _check(item, levels - 1)
        case _:
            pass


def _shown(name: str) -> str:
    return json.dumps(name[:64])


def _refuse(message: str) -> NoReturn:
    raise ValidationFailed(FieldFault("", message, "invalid_json"))
