"""The list of findings in docs/decisions.md names tests that exist."""

import ast
import re
from typing import Final

from local.template import ROOT
from tests.loops import for_each

_PAGE: Final = (ROOT / "docs/decisions.md").read_text()
_TABLE: Final = _PAGE.partition("### What a deployment must not lose")[2].partition("\n#")[0]
_ROWS: Final = re.findall(r"^\| (?!fault|---)(.+) \| (.+) \|$", _TABLE, re.MULTILINE)


@for_each(("fault", "tests"), _ROWS)
def test_each_finding_has_a_test(fault: str, tests: str) -> None:
    """Each path is a file with tests, and each name after it is one of them."""
    names = re.findall(r"`([^`]+)`", tests)
    assert names, fault
    for name in names:
        file, _, function = name.partition("::")
        tree = ast.parse((ROOT / "tests" / file).read_text())
        functions = {part.name for part in tree.body if isinstance(part, ast.FunctionDef)}
        assert function in functions if function else any(n.startswith("test_") for n in functions)


def test_the_list_is_read() -> None:
    """The pattern finds the rows of the table."""
    assert len(_ROWS) == _TABLE.count("\n| ") - 1
