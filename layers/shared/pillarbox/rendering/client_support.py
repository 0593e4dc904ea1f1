"""What mail programs do not support, from a reduced table of caniemail's data."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

_DECLARATION: Final = re.compile(
    r"(?:^|[;{])\s*([a-z-]+)\s*:\s*([^;{}]*)", re.IGNORECASE | re.ASCII
)
_FUNCTION: Final = re.compile(r"([a-z-]{1,40})\(")
_AT_RULE: Final = re.compile(r"@([a-z-]+)", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A feature, where it is used in the CSS, and the programs that ignore it."""

    feature: str
    position: int
    clients: tuple[str, ...]


def unsupported_element(name: str) -> tuple[str, ...]:
    """Return the programs that do not support an element."""
    return _clients("elements", name)


def unsupported_css(css: str) -> Iterator[Unsupported]:
    """Yield what some programs do not support in CSS: of a style element or attribute."""
    for match in _AT_RULE.finditer(css):
        name = match[1].lower()
        if clients := _clients("at_rules", name):
            yield Unsupported(f"@{name}", match.start(), clients)
    for match in _DECLARATION.finditer(css):
        name, value = match[1].lower(), match[2].strip().lower()
        value = value.removesuffix("!important").rstrip()
        if clients := _clients("properties", name):
            yield Unsupported(name, match.start(1), clients)
        if clients := _clients("declarations", f"{name}:{value}"):
            yield Unsupported(f"{name}: {value}", match.start(1), clients)
        for function in _FUNCTION.finditer(value):
            if clients := _clients("functions", function[1]):
                yield Unsupported(f"{function[1]}()", match.start(1), clients)


def _clients(kind: str, name: str) -> tuple[str, ...]:
    table = _table()
    return tuple(table["clients"][number] for number in table[kind].get(name, ()))


@cache
def _table() -> Any:  # noqa: ANN401  the form of reduce_caniemail.py
    path = Path(__file__).with_suffix(".json")
    return json.loads(path.read_text(encoding="utf-8"))
