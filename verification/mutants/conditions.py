"""Changes of DynamoDB expressions, which are only strings to cosmic-ray."""

import ast
import re
from collections.abc import Iterator
from typing import Final

#: One term of a condition; it compares with a placeholder or an interpolated value.
_TERM: Final = re.compile(
    r"attribute_(?:not_)?exists\([^()]*\)|(?<!, )(?<![\w#])[#{}.\w]+ (?:=|<>|<|<=) (?::\w+|\{\w+\})"
)
_UPDATE: Final = re.compile(r"\b(SET|ADD|REMOVE) ")
#: Both use every name and value, since DynamoDB refuses an expression that leaves one out.
_ALWAYS: Final = "({0} OR NOT {0})"
_NEVER: Final = "({0} AND NOT {0})"


def changed(source: str) -> Iterator[str]:
    """Yield the source with one change at a time.

    Each term of a condition is changed to always or never hold. `<` becomes `<=` and `<=`
    becomes `<`. An addition in an update becomes a subtraction.
    """
    for start, end in _texts(source):
        text = source[start:end]
        if _UPDATE.search(text) or " + :" in text:
            for match in re.finditer(r" \+ (?=:)", text):
                yield _replace(source, start + match.start(), match[0], " - ")
            continue
        for match in _TERM.finditer(text):
            term, at = match[0], start + match.start()
            yield _replace(source, at, term, _ALWAYS.format(term))
            yield _replace(source, at, term, _NEVER.format(term))
            if " < " in term:
                yield _replace(source, at, term, term.replace(" < ", " <= "))
            if " <= " in term:
                yield _replace(source, at, term, term.replace(" <= ", " < "))


def _texts(source: str) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each string literal of a module."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    tree = ast.parse(source)
    inside = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        is_literal = isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
        if is_literal and id(node) not in inside:
            assert isinstance(node, ast.expr)
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            yield (
                lines[node.lineno - 1] + node.col_offset,
                lines[node.end_lineno - 1] + node.end_col_offset,
            )


def _replace(source: str, at: int, old: str, new: str) -> str:
    return source[:at] + new + source[at + len(old) :]
