"""Changes of a module's code, by cosmic-ray's operators: a program for the Python that has it.

The argument is a path; prints a list in JSON of the module's sources with one change
each. All are made at once, since cosmic-ray's own command takes seconds for each.
"""

import json
import re
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Final

from cosmic_ray.mutating import mutate_code  # type: ignore[import-not-found]
from cosmic_ray.plugins import get_operator, operator_names  # type: ignore[import-not-found]

#: Only marks and types, or between things of which there is one each (None, members of
#: an enumeration): they change nothing that runs, or nothing that is a rule here.
_LEFT_OUT: Final = re.compile(
    "core/(RemoveDecorator|ReplaceBinaryOperator_BitOr_.*"
    "|ReplaceComparisonOperator_Is_Eq|ReplaceComparisonOperator_IsNot_NotEq)"
)


def changed(source: str) -> Iterator[str]:
    """The source with one change at a time."""
    for name in operator_names():
        operator = get_operator(name)
        if _LEFT_OUT.fullmatch(name) or operator.arguments():
            continue
        for occurrence in count():
            change = mutate_code(source, operator(), occurrence)
            if change is None:
                break
            if _is_python(change) and not _of_a_mark(source, change):
                yield change


def _is_python(source: str) -> bool:
    try:
        compile(source, "", "exec")
    except SyntaxError:
        return False
    return True


def _of_a_mark(source: str, change: str) -> bool:
    """Whether it says how a class is stored and called, or how a function is."""
    lines = zip(source.splitlines(), change.splitlines(), strict=True)
    (differing,) = ((before, after) for before, after in lines if before != after)
    before, after = differing
    return before.startswith("@dataclass(") or before.replace("*,", "/,") == after


if __name__ == "__main__":
    json.dump([*changed(Path(sys.argv[1]).read_text())], sys.stdout)
