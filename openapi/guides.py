"""Put the code of docs/guides/code into the guides: each block follows a comment with its file."""

import re
from pathlib import Path
from typing import Final

GUIDES: Final = Path(__file__).parents[1] / "docs" / "guides"
_BLOCK: Final = re.compile(r"(?ms)^<!-- (code/\S+) -->\n```(\w+)\n.*?^```$")


def with_code(page: str) -> str:
    """Return a guide with the code that its comments name."""

    def block(match: re.Match[str]) -> str:
        name, language = match.groups()
        code = (GUIDES / name).read_text(encoding="utf-8")
        return f"<!-- {name} -->\n```{language}\n{code}```"

    return _BLOCK.sub(block, page)


def files_of(page: str) -> set[str]:
    """Return the names of the files that a guide shows."""
    return {name for name, _ in _BLOCK.findall(page)}
