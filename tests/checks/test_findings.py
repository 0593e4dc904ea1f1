"""The lists of faults and of attacks name tests that exist."""

import ast
import re
from typing import Final

from local.template import ROOT
from tests.loops import for_each

_PAGE: Final = (ROOT / "docs/decisions/faults.md").read_text()
_FAULTS: Final = re.findall(r"^\| (?!fault|---)(.+) \| (.+) \|$", _PAGE, re.MULTILINE)
_ATTACKS: Final = re.findall(
    r"^\| (?!try|---)([^|]+) \|[^|]*\| ([^|]*\.py[^|]*) \|[^|]+\|[^|]+\|$",
    (ROOT / "verification/README.md").read_text(),
    re.MULTILINE,
)
_ROWS: Final = _FAULTS + _ATTACKS


@for_each(("fault", "tests"), _ROWS)
def test_each_finding_has_a_test(fault: str, tests: str) -> None:
    """Each file exists once and has tests, and each name after it is one of them."""
    names = re.findall(r"`([^`]+)`", tests)
    assert names, fault
    for name in names:
        file, _, function = name.partition("::")
        (path,) = (ROOT / "tests").rglob(file)
        tree = ast.parse(path.read_text())
        defined = (ast.FunctionDef, ast.AsyncFunctionDef)
        functions = {part.name for part in tree.body if isinstance(part, defined)}
        assert function in functions if function else any(n.startswith("test_") for n in functions)


def test_the_list_is_read() -> None:
    """The patterns find the rows of the tables."""
    assert len(_FAULTS) == _PAGE.count("\n| ") - 1
    assert len(_ATTACKS) >= 20
