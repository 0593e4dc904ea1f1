"""The files that `make openapi` writes: as a whole, or the part that is generated."""

import json
import re
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Final

from openapi.document import document
from openapi.errors import ERRORS, example_of
from openapi.guides import GUIDES, with_code
from openapi.mcp import tools
from openapi.operations import METHODS_BY_PATH
from pillarbox.domain.errors import CODES

ROOT: Final = Path(__file__).parents[1]


def _openapi(_: str) -> str:
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def _tools(_: str) -> str:
    return json.dumps(tools(), separators=(",", ":"), ensure_ascii=False) + "\n"


def _errors(page: str) -> str:
    """Replace the sections of all error codes in a page."""
    rows = ["| status | codes |", "|---|---|"]
    for status, codes in groupby(CODES, lambda code: CODES[code][0]):
        rows.append(f"| {status} | {', '.join(f'[`{code}`](#{code.lower()})' for code in codes)} |")
    rows.append("")
    for code, (status, kind) in CODES.items():
        text = ERRORS[code]
        example = json.dumps(example_of(code)["value"], indent=2, ensure_ascii=False)
        rows += [
            f"### `{code}`\n",
            f"{status} `{kind}`. {text.when} {text.about_details}".strip() + "\n",
            f"**What to do:** {text.remedy}\n",
            f"```json\n{example}\n```\n",
        ]
    return _replaced(page, r"(?s)(?<=make openapi` -->\n\n)\| status.*?(?=\n## )", rows)


def _routes(source: str) -> str:
    """Replace the table of all routes in a module."""
    rows = []
    for path, methods in sorted(METHODS_BY_PATH.items()):
        comma = "," if len(methods) == 1 else ""
        listed = ", ".join(f'"{method}"' for method in methods)
        rows.append(f'    "{path}": ({listed}{comma}),')
    return _replaced(source, r"(?s)(?<=\[str, \.\.\.\]\]\] = \{\n).*?(?=\n\}\n)", rows)


def _replaced(text: str, part: str, rows: list[str]) -> str:
    if not re.search(part, text):
        raise ValueError(part)
    return re.sub(part, lambda _: "\n".join(rows), text, count=1)


#: Path of each file -> how to make its content from what it contains now.
GENERATED: Final[Mapping[str, Callable[[str], str]]] = {
    "docs/openapi.json": _openapi,
    "docs/errors.md": _errors,
    "layers/shared/pillarbox/http/mcp/tools.json": _tools,
    "layers/shared/pillarbox/http/routes.py": _routes,
} | {str(guide.relative_to(ROOT)): with_code for guide in sorted(GUIDES.glob("*.md"))}
