"""Strict JSON: a text that two parsers could read differently is refused."""

import json
import math
import re
from itertools import islice
from typing import Any, Final, NoReturn

from pillarbox.domain.errors import FieldError, Json, ValidationFailed

MAX_DEPTH: Final = 32
#: Values of any kind in one body: a batch of a million messages still gets its own error.
MAX_VALUES: Final = 1_100_000
#: Lists and objects in one body, and fractions: these take most memory and time.
MAX_COSTLY: Final = 250_000
#: In characters: how much of a duplicate name an error message shows.
_MAX_SHOWN_NAME: Final = 64
#: In digits. To read or write an integer takes the square of its length; shorter ones take no time.
_LONG: Final = 100
#: In digits, of all longer integers together.
_MAX_LONG_DIGITS: Final = 1_000_000

#: What comes directly before a value in a list or a member of an object.
_BEFORE_VALUES: Final = (b",", b"[", b"{")
#: A string, or one of these. Each alternative matches without backtracking.
_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.?)*+"?|[,\[{]', re.DOTALL)
_BLOCK: Final = 64 * 1024


class RoundedNumber(float):
    """A number that a double only approximates, with its exact value as text."""

    __slots__ = ("exact",)
    exact: str


class _Numbers:
    """Parses the numbers of one body, and limits those that take most time."""

    def __init__(self) -> None:
        self._fractions = 0
        self._long_digits = 0

    def integer(self, digits: str) -> int:
        if len(digits) > _LONG:
            self._long_digits += len(digits)
            if self._long_digits > _MAX_LONG_DIGITS:
                _refuse("the body has too many digits in long numbers")
        return int(digits)

    def fraction(self, digits: str) -> float:
        self._fractions += 1
        if self._fractions > MAX_COSTLY:
            _refuse_values()
        return _parse_float(digits)


def parse_json(raw: bytes) -> Json:
    """Parse a JSON text (RFC 8259) in UTF-8.

    Refuse duplicate names, NaN and infinities, numbers that exceed a double or
    4,300 digits, lone surrogates, a byte order mark, more than 32 levels, too many values, and
    too many digits in long integers.
    A number with more digits than a double holds becomes a `RoundedNumber`.
    """
    if _has_too_many_values(raw):
        _refuse_values()
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        _refuse("the body is not UTF-8")
    numbers = _Numbers()
    try:
        value = json.loads(
            text,
            object_pairs_hook=_parse_object,
            parse_constant=_refuse_constant,
            parse_float=numbers.fraction,
            parse_int=numbers.integer,
        )
    except RecursionError:
        _refuse(f"the body is nested deeper than {MAX_DEPTH} levels")
    except json.JSONDecodeError as error:
        _refuse(f"the body is not JSON: {error.msg} at character {error.pos}")
    except ValueError:  # an integer with more digits than Python converts
        _refuse("the body has a number that is too large")
    _check(value, MAX_DEPTH)
    return value  # type: ignore[no-any-return]


def canonical(value: Json) -> bytes:
    """Write a JSON value in its canonical form: sorted names, no white space."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def depth_of(value: Json) -> int:
    """Return the number of levels of arrays and objects in a value."""
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


def _has_too_many_values(raw: bytes) -> bool:
    """Count before any object is built: a value may take 100 times the memory of its text."""
    if not _are_too_many(*(_count(raw, octet) for octet in _BEFORE_VALUES)):
        return False
    # Some of the octets may be in strings. A name and a value are at most two strings.
    tokens = [token[0][:1] for token in islice(_TOKEN.finditer(raw), 3 * MAX_VALUES)]
    return _are_too_many(*map(tokens.count, _BEFORE_VALUES)) or len(tokens) == 3 * MAX_VALUES


def _are_too_many(commas: int, lists: int, objects: int) -> bool:
    return lists + objects > MAX_COSTLY or commas + lists + objects >= MAX_VALUES


def _count(raw: bytes, octet: bytes) -> int:
    """Return how often an octet occurs. The search jumps over long texts without it."""
    count, position = 0, raw.find(octet)
    while position >= 0:
        count += raw.count(octet, position, position + _BLOCK)
        position = raw.find(octet, position + _BLOCK)
    return count


def _parse_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names: set[str] = set()
        for name, _ in pairs:
            if name in names:
                shown = json.dumps(name[:_MAX_SHOWN_NAME])
                _refuse(f"the name {shown} occurs twice in one object")
            names.add(name)
    return members


def _refuse_constant(name: str) -> NoReturn:
    _refuse(f"{name} is not JSON")


def _parse_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        _refuse("the body has a number that is too large")
    if (exact := _exact(digits)) != _exact(repr(value)):
        value = RoundedNumber(value)
        value.exact = exact
    return value


def _exact(digits: str) -> str:
    """Return a decimal number in the one form that all texts of the same value share."""
    mantissa, _, exponent = digits.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    significant = f"{whole}{fraction}".rstrip("0")
    zeros = len(whole) + len(fraction) - len(significant)
    significant = significant.lstrip("-").lstrip("0")
    sign = "-" if whole.startswith("-") else ""
    if not significant:
        return f"{sign}0"
    return f"{sign}{significant}e{int(exponent or 0) - len(fraction) + zeros}"


def _check(value: Json, levels: int) -> None:
    """Refuse values that are nested too deeply and text that UTF-8 cannot encode."""
    match value:
        case str():
            try:
                value.isascii() or value.encode()
            except UnicodeEncodeError:
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


def _refuse_values() -> NoReturn:
    _refuse(
        f"the body has more than {MAX_VALUES} values,"
        f" or {MAX_COSTLY} lists and objects, or {MAX_COSTLY} fractions",
        "too_many_values",
    )


def _refuse(message: str, code: str = "invalid_json") -> NoReturn:
    raise ValidationFailed(FieldError("", message, code))
