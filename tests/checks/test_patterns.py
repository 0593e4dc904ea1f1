"""Regular expressions that ignore case: of text, they do so for ASCII alone."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from tests.checks.test_clocks import PROGRAMS
from tests.loops import for_each

#: Flags within a pattern that ignore case, but not for ASCII alone.
_INLINE: Final = re.compile(r"\(\?(?![a-z]*a)[b-z]*i[b-z]*[:)-]")
_IGNORES: Final = frozenset({"IGNORECASE", "I"})
_ASCII: Final = frozenset({"ASCII", "A"})


def _patterns_beyond_ascii(source: str) -> Iterator[int]:
    """Yield the lines of patterns of text with which `k` is also the Kelvin sign."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Constant(value=str(text)) if _INLINE.search(text):
                yield node.lineno
            case ast.Call(args=[ast.Constant(value=bytes()), *_]):
                pass  # octets have no other case
            case ast.Call():
                values = [*node.args, *(each.value for each in node.keywords)]
                inner = [each for value in values for each in ast.walk(value)]
                names = {each.attr for each in inner if isinstance(each, ast.Attribute)}
                if names & _IGNORES and not names & _ASCII:
                    yield node.lineno


def test_patterns_ignore_the_case_of_ascii_alone() -> None:
    """Without re.ASCII, `i` is also a dotless one, `s` a long one and `k` the Kelvin sign."""
    beyond = [
        f"{prefix}{path.relative_to(root)}:{line}"
        for prefix, root in PROGRAMS.items()
        for path in sorted(root.rglob("*.py"))
        for line in _patterns_beyond_ascii(path.read_text(encoding="utf-8"))
    ]
    assert not beyond


@for_each(
    "source, count",
    [
        ("re.compile('x', re.IGNORECASE)", 1),
        ("re.sub('x', y, flags=re.I | re.DOTALL)", 1),
        ("re.fullmatch(PATTERN, text, re.IGNORECASE)", 1),
        ("P = '(?i)x'", 1),
        ("P = '(?im)x'", 1),
        ("P = 'a(?i:x)'", 1),
        ("P = f'(?mi:{x})'", 1),
        ("re.compile('x', re.IGNORECASE | re.ASCII)", 0),
        ("P = '(?ai)x'", 0),
        ("P = '(?ia:x)'", 0),
        ("re.compile(b'x', re.IGNORECASE)", 0),
        ("P = b'(?i)x'", 0),
        ("P = '(?:i)'", 0),
    ],
)
def test_a_pattern_beyond_ascii_is_found(source: str, count: int) -> None:
    assert len([*_patterns_beyond_ascii(source)]) == count
