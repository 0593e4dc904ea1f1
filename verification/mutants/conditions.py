"""Changes of DynamoDB's expressions, which to cosmic-ray are text that it leaves alone."""

import ast
import re
from collections.abc import Iterator
from typing import Final

#: One test of a condition; what it is held against is a value's name or comes from Python.
_TERM: Final = re.compile(
    r"attribute_(?:not_)?exists\([^()]*\)|(?<!, )(?<![\w#])[#{}.\w]+ (?:=|<>|<|<=) (?::\w+|\{\w+\})"
)
_UPDATE: Final = re.compile(r"\b(SET|ADD|REMOVE) ")
#: Both keep every name and value in use, since DynamoDB refuses an expression that does not.
_ALWAYS: Final = "({0} OR NOT {0})"
_NEVER: Final = "({0} AND NOT {0})"


def changed(source: str) -> Iterator[str]:
    """The source with one change at a time.

    Each term of a condition holds always, or never, or for the equal one no more or
    only for it; what is counted up is counted down.
    """
    for start, end in _texts(source):
        text = source[start:end]
        if _UPDATE.search(text) or " + :" in text:
            for match in re.finditer(r" \+ (?=:)", text):
                yield _put(source, start + match.start(), match[0], " - ")
            continue
        for match in _TERM.finditer(text):
            term, at = match[0], start + match.start()
            yield _put(source, at, term, _ALWAYS.format(term))
            yield _put(source, at, term, _NEVER.format(term))
            if " < " in term:
                yield _put(source, at, term, term.replace(" < ", " <= "))
            if " <= " in term:
                yield _put(source, at, term, term.replace(" <= ", " < "))


def _texts(source: str) -> Iterator[tuple[int, int]]:
    """Where the literals of a module are, from and to."""
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
        whole = isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
        if whole and id(node) not in inside:
            assert isinstance(node, ast.expr)
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            yield (
                lines[node.lineno - 1] + node.col_offset,
                lines[node.end_lineno - 1] + node.end_col_offset,
            )


def _put(source: str, at: int, old: str, new: str) -> str:
    return source[:at] + new + source[at + len(old) :]
