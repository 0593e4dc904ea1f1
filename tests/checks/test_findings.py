"""The list of faults in docs/decisions/faults.md names tests that exist."""

import ast
import re
from typing import Final

from local.template import ROOT
from tests.loops import for_each

_PAGE: Final = (ROOT / "docs/decisions/faults.md").read_text()
_ROWS: Final = re.findall(r"^\| (?!fault|---)(.+) \| (.+) \|$", _PAGE, re.MULTILINE)


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
    """The pattern finds the rows of the table."""
    assert len(_ROWS) == _PAGE.count("\n| ") - 1
