"""Tests say the numbers that they check, so that a changed limit or duration fails a test."""

import ast
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Final

from tests.loops import for_each

_TESTS: Final = Path(__file__).parents[1]
_PARTS: Final = ("browser", "contract", "e2e", "fakes", "integration", "ports", "relay", "unit")
#: What no user and no protocol knows.
_ALLOWED: Final = frozenset({"END_OF_TIME", "NODE", "SECOND"})
#: They compare numbers of the code with each other, or with those of the template.
_COMPARING: Final = frozenset({"test_ports_tombstones.py", "test_template_relay.py"})


def _imported(path: Path) -> Iterator[str]:
    """Yield the numbers and durations that a file imports from the product."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        if node.module.partition(".")[0] not in {"admin", "front", "pillarbox", "relay"}:
            continue
        for name in (one.name for one in node.names if one.name.isupper()):
            value = getattr(import_module(node.module), name)
            if isinstance(value, int | float | timedelta) and name not in _ALLOWED:
                yield f"{name} = {value}"


@for_each("part", _PARTS)
def test_no_test_imports_a_number(part: str) -> None:
    files = (path for path in (_TESTS / part).rglob("*.py") if path.name not in _COMPARING)
    found = {str(path): [*_imported(path)] for path in files}
    assert {path: names for path, names in found.items() if names} == {}
