"""Changes of a module's code by the operators of cosmic-ray, as a program for its environment.

The argument is the path of a module. The program prints a JSON list of the module's sources
with one change each. It makes all changes at once, since cosmic-ray's own command takes
seconds for each.
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

#: Operators whose changes break no rule: those of decorators and types, and `is` to `==`
#: between objects that exist once (None, members of an enumeration).
_EXCLUDED: Final = re.compile(
    "core/(RemoveDecorator|ReplaceBinaryOperator_BitOr_.*"
    "|ReplaceComparisonOperator_Is_Eq|ReplaceComparisonOperator_IsNot_NotEq)"
)


def changed(source: str) -> Iterator[str]:
    """Yield the source with one change at a time."""
    for name in operator_names():
        operator = get_operator(name)
        if _EXCLUDED.fullmatch(name) or operator.arguments():
            continue
        for occurrence in count():
            try:
                change = mutate_code(source, operator(), occurrence)
            except AttributeError:  # the operator cannot change dotted names of exceptions
                continue
            if change is None:
                break
            if _is_python(change) and not _is_declaration(source, change):
                yield change


def _is_python(source: str) -> bool:
    try:
        compile(source, "", "exec")
    except SyntaxError:
        return False
    return True


def _is_declaration(source: str, change: str) -> bool:
    """Return whether a change concerns a `@dataclass` line or a signature's `*` or `/`."""
    lines = zip(source.splitlines(), change.splitlines(), strict=True)
    return all(
        before.startswith("@dataclass(") or before.replace("*,", "/,") == after
        for before, after in lines
        if before != after
    )


if __name__ == "__main__":
    json.dump([*changed(Path(sys.argv[1]).read_text())], sys.stdout)
