"""The files that `make openapi` writes: as a whole, or the part that is generated."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from openapi.document import document
from openapi.errors import ERRORS, example_of
from openapi.guides import GUIDES, with_code
from openapi.mcp import tools
from openapi.operations import METHODS_BY_PATH, OPERATIONS
from pillarbox.domain.errors import CODES

ROOT: Final = Path(__file__).parents[1]


def _openapi(_: str) -> str:
    text = json.dumps(document(), indent=2, ensure_ascii=False) + "\n"
    # A reference, of which there are thousands, is one line.
    return re.sub(r'\{\s+("\$ref": "[^"]+")\s+\}', r"{\1}", text)


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


def _api(_: str) -> str:
    """Return the `paths` of the API, which the template includes.

    API Gateway takes a wrong method for an unknown path, and knows no second reading of a path. So
    each path takes any method, and its function answers 405; the literal reading of the contract's
    `{base_url}/api/v1` and `/v1/…` has paths of its own. The include knows only the long form of
    CloudFormation's functions, and no anchors.
    """
    owners = {
        path: {method.lower(): _owner(path, method) for method in methods}
        for path, methods in METHODS_BY_PATH.items()
    }
    lines = ["# Generated from openapi/operations.py by `make openapi`: the `paths` of the API."]
    for path, methods in sorted(owners.items()):
        first = next(iter(methods.values()))
        everything = {"x-amazon-apigateway-any-method": first}
        lines += _integrations(path, methods | everything)
        of_literal = methods if len(set(methods.values())) > 1 else {}
        lines += _integrations(f"/v1{path}", of_literal | everything)
    return "\n".join(lines) + "\n"


def _owner(path: str, method: str) -> str:
    """Return the logical id of the function of a path and method."""
    (owner,) = (
        operation.logical_id
        for operation in OPERATIONS
        if (operation.path, operation.method.upper()) == (path, method)
    )
    return owner


def _integrations(path: str, methods: Mapping[str, str]) -> Iterator[str]:
    yield f'"{path}":'
    for method, function in methods.items():
        uri = (
            "arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/"
            f"${{{function}Aliaslive}}/invocations"
        )
        yield f"  {method}:"
        yield "    responses: {}"
        yield "    x-amazon-apigateway-integration:"
        yield f'      {{type: aws_proxy, httpMethod: POST, uri: {{"Fn::Sub": "{uri}"}}}}'


def _edge(source: str) -> str:
    """Replace the table of the edge function: the methods of each path, by segments after /v1."""
    table: dict[str, Any] = {}
    for path, methods in METHODS_BY_PATH.items():
        node = table
        for segment in path.removeprefix("/v1/").split("/"):
            node = node.setdefault("{}" if segment.startswith("{") else segment, {})
        node["/"] = ", ".join(methods)
    rows = [
        f'            "{segment}": {json.dumps(below)},' for segment, below in sorted(table.items())
    ]
    rows[-1] = rows[-1].removesuffix(",")
    return _replaced(source, r"(?s)(?<=const ROUTES = \{\n).*?(?=\n {10}\};\n)", rows)


def _replaced(text: str, part: str, rows: list[str]) -> str:
    if not re.search(part, text):
        raise ValueError(part)
    return re.sub(part, lambda _: "\n".join(rows), text, count=1)


#: Path of each file -> how to make its content from what it contains now.
GENERATED: Final[Mapping[str, Callable[[str], str]]] = {
    "api.yaml": _api,
    "docs/openapi.json": _openapi,
    "docs/errors.md": _errors,
    "layers/shared/pillarbox/http/mcp/tools.json": _tools,
    "layers/shared/pillarbox/http/routes.py": _routes,
    "stacks/edge.yaml": _edge,
} | {str(guide.relative_to(ROOT)): with_code for guide in sorted(GUIDES.glob("*.md"))}
