"""The files that `make openapi` writes: as a whole, or the part that is generated."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from openapi.document import document
from openapi.errors import ERRORS, OPERATOR_ERRORS
from openapi.guides import GUIDES, with_code
from openapi.operations import METHODS_BY_PATH
from pillarbox.domain.errors import CODES

ROOT: Final = Path(__file__).parents[1]


def _openapi(_: str) -> str:
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def _errors(page: str) -> str:
    """Replace the table of all error codes in a page."""
    rows = ["| code | status | type | when | what to do |", "|---|---|---|---|---|"]
    texts = {**ERRORS, **OPERATOR_ERRORS}
    for code, (status, kind) in CODES.items():
        text = texts[code]
        when = f"{text.when} {text.about_details}".strip()
        rows.append(f"| `{code}` | {status} | `{kind}` | {when} | {text.remedy} |")
    return _replaced(page, r"(?s)(?<=make openapi` -->\n\n)\| code \| status.*?(?=\n\n)", rows)


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
    "layers/shared/pillarbox/http/routes.py": _routes,
} | {str(guide.relative_to(ROOT)): with_code for guide in sorted(GUIDES.glob("*.md"))}
