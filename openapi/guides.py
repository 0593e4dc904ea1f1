"""Put the code of docs/guides/code into the guides: each block follows a comment with its file.

A table of scopes gets its rows.
"""

import re
from pathlib import Path
from typing import Final

from pillarbox.domain.accounts.key_terms import SCOPE_WORDS

GUIDES: Final = Path(__file__).parents[1] / "docs" / "guides"
_BLOCK: Final = re.compile(r"(?ms)^<!-- (code/\S+) -->\n```(\w+)\n.*?^```$")

_SCOPES: Final = re.compile(r"(?<=\| scope \| a key with it may \|\n\|---\|---\|\n)(?:\|.*\n)*")


def with_code(page: str) -> str:
    """Return a guide with the code that its comments name, and the table of scopes."""

    def block(match: re.Match[str]) -> str:
        name, language = match.groups()
        code = (GUIDES / name).read_text(encoding="utf-8")
        return f"<!-- {name} -->\n```{language}\n{code}```"

    rows = "".join(f"| `{scope}` | {words} |\n" for scope, words in SCOPE_WORDS.items())
    return _SCOPES.sub(rows, _BLOCK.sub(block, page))


def files_of(page: str) -> set[str]:
    """Return the names of the files that a guide shows."""
    return {name for name, _ in _BLOCK.findall(page)}
