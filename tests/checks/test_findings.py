"""The list of attacks names tests that exist."""

import ast
import re
from typing import Final

from local.template import ROOT
from tests.loops import for_each

_ATTACKS: Final = re.findall(
    r"^\| (?!try|---)([^|]+) \| ([^|]*`test_[^|]*\.py[^|]*) \|[^|]+\|[^|]+\|$",
    (ROOT / "verification/README.md").read_text(),
    re.MULTILINE,
)


@for_each(("attack", "tests"), _ATTACKS)
def test_each_finding_has_a_test(attack: str, tests: str) -> None:
    names = re.findall(r"`([^`]+)`", tests)
    assert names, attack
    for name in names:
        file, _, function = name.partition("::")
        (path,) = (ROOT / "tests").rglob(file)
        tree = ast.parse(path.read_text())
        defined = (ast.FunctionDef, ast.AsyncFunctionDef)
        functions = {part.name for part in tree.body if isinstance(part, defined)}
        assert function in functions if function else any(n.startswith("test_") for n in functions)


def test_the_list_is_read() -> None:
    assert len(_ATTACKS) >= 20
