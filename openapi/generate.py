"""The files that `make openapi` writes: as a whole, or the part that is generated."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from openapi.budgets import budget_rows
from openapi.clients import javascript, python
from openapi.document import document
from openapi.errors import ERRORS, Error
from openapi.guides import GUIDES, with_code
from openapi.mcp import tools
from openapi.of_keys import of_keys
from openapi.operations import METHODS_BY_PATH, OPERATIONS
from openapi.provisioning import file_schema
from pillarbox.domain.messages.message import MEANINGS

ROOT: Final = Path(__file__).parents[1]
_ERRORS: Final = dict(sorted(ERRORS.items(), key=lambda item: item[1].status))
#: In characters, of a module of Python.
_MAX_LINE: Final = 100


def _openapi(_: str) -> str:
    text = json.dumps(document(), indent=2, ensure_ascii=False) + "\n"
    # A reference, of which there are thousands, is one line.
    return re.sub(r'\{\s+("\$ref": "[^"]+")\s+\}', r"{\1}", text)


def _client(part: Callable[[Mapping[str, Any]], str]) -> Callable[[str], str]:
    """Return what makes a generated module of a client package."""
    return lambda _: part(of_keys(document()))


def _provisioning(_: str) -> str:
    return json.dumps(file_schema(), indent=2) + "\n"


def _tools(_: str) -> str:
    return json.dumps(tools(), separators=(",", ":"), ensure_ascii=False) + "\n"


def _errors(page: str) -> str:
    """Replace the tables of all error codes in a page."""
    rows = ["| status | code | when | what to do |", "|---|---|---|---|"]
    for code, error in _ERRORS.items():
        when = f"{error.when} {error.about_details}".strip()
        rows.append(f"| {error.status} | `{code}` | {when} | {error.remedy} |")
    page = _replaced(page, r"(?s)(?<=make openapi` -->\n\n)\| status.*?(?=\n## )", [*rows, ""])
    meanings = [f"| `{code}` | {meaning} |" for code, meaning in sorted(MEANINGS.items())]
    return _replaced(
        page,
        r"(?<=\| code of an email \| meaning \|\n\|---\|---\|\n)(?:\|.*\n)*",
        [*meanings, ""],
    )


def _budgets(page: str) -> str:
    """Replace the table of all budgets in a page."""
    table = r"(?<=\| budget \| operations \|\n\|---\|---\|\n)(?:\|.*\n)*"
    return _replaced(page, table, [*budget_rows(), ""])


def _of_codes(name: str, row: Callable[[Error], Sequence[Any] | None]) -> Callable[[str], str]:
    """Return what replaces a table of codes in a module, with those that have a row."""
    rows = {code: found for code, error in _ERRORS.items() if (found := row(error))}
    return lambda source: _with_table(source, name, rows)


def _routes(source: str) -> str:
    """Replace the table of all routes in a module."""
    return _with_table(source, "ROUTES", dict(sorted(METHODS_BY_PATH.items())))


def _api(_: str) -> str:
    """Return the `paths` of the API, which the template includes.

    API Gateway takes a wrong method for an unknown path, and knows no second reading of a path. So
    each path takes any method, and its function answers 405. Without an edge, which rewrites it,
    the literal reading of the contract's `{base_url}/api/v1` and `/v1/…` has paths of its own. The
    include knows only the long form of CloudFormation's functions, and no anchors.
    """
    lines = ["# Generated from openapi/operations.py by `make openapi`: the `paths` of the API."]
    literal = ["# The literal reading, which the edge rewrites."]
    for path, methods in sorted(METHODS_BY_PATH.items()):
        owners = {method.lower(): _owner(path, method) for method in methods}
        everything = {"x-amazon-apigateway-any-method": next(iter(owners.values()))}
        lines.append(f'"{path}": {_integrations(owners | everything)}')
        of_literal = owners if len(set(owners.values())) > 1 else {}
        without_edge = _integrations(of_literal | everything)
        literal.append(
            f'"/v1{path}": {{"Fn::If": [WithEdge, {{Ref: "AWS::NoValue"}}, {without_edge}]}}'
        )
    for path, taken in DIALECT_ROUTES.items():
        owners = {method.lower(): _dialect_owner(path, method) for method in taken}
        everything = {"x-amazon-apigateway-any-method": "Resend"}
        lines.append(f'"{path}": {_integrations(owners | everything)}')
    return "\n".join([*lines, *literal]) + "\n"


def _owner(path: str, method: str) -> str:
    """Return the logical id of the function of a path and method."""
    (owner,) = (
        operation.logical_id
        for operation in OPERATIONS
        if (operation.path, operation.method.upper()) == (path, method)
    )
    return owner


def _dialect_owner(path: str, method: str) -> str:
    """Return the logical id of the function of a path that is in the shape of another service.

    What manages an account has the function that has the rights for it.
    """
    if path.startswith(_RECEIVED):
        return "ReadReceived"
    resource = "/".join(path.split("/")[:3])
    if resource == "/resend/webhooks":
        return "ReadWebhooks" if method == "GET" else "WriteWebhooks"
    return _MANAGING.get(resource, "Resend")


def _integrations(methods: Mapping[str, str]) -> str:
    """Return the methods of a path, with a line for each."""
    start = "arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/"
    lines = []
    for method, function in methods.items():
        uri = f'{{"Fn::Sub": "{start}${{{function}Aliaslive}}/invocations"}}'
        integration = f"{{type: aws_proxy, httpMethod: POST, uri: {uri}}}"
        lines.append(
            f"  {method}: {{responses: {{}}, x-amazon-apigateway-integration: {integration}}}"
        )
    return "{\n" + ",\n".join(lines) + "}"


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


def _with_table(source: str, name: str, rows: Mapping[str, Sequence[object]]) -> str:
    """Return a module of Python with other rows in one of its tables, as ruff formats them."""
    heading = re.search(rf"(?m)^{name}: .* = \{{\n", source)
    if not heading:
        raise ValueError(name)
    lines = []
    for key, row in rows.items():
        items = [json.dumps(item, ensure_ascii=False) for item in row]
        line = f'    "{key}": ({", ".join(items)}{"," * (len(items) == 1)}),'
        apart = [f'    "{key}": (', *(f"        {item}," for item in items), "    ),"]
        lines += [line] if len(line) <= _MAX_LINE else apart
    end = source.index("\n}\n", heading.end())
    return source[: heading.end()] + "\n".join(lines) + source[end:]


def _replaced(text: str, part: str, rows: list[str]) -> str:
    if not re.search(part, text):
        raise ValueError(part)
    return re.sub(part, lambda _: "\n".join(rows), text, count=1)


_ANY_METHOD: Final = ("GET", "POST", "PATCH", "DELETE")
_RECEIVED: Final = ("/resend/emails/receiving", "/postmark/messages/inbound")
#: What has another function than functions/resend.
_MANAGING: Final = {
    "/resend/domains": "ManageDomains",
    "/resend/api-keys": "ManageKeys",
    "/resend/suppressions": "ManageAccount",
}
#: The routes in the shapes of other services, which are not in docs/openapi.json. The last ones of
#: each answer for what Pillarbox does not have.
DIALECT_ROUTES: Final[Mapping[str, tuple[str, ...]]] = {
    "/resend/emails": ("GET", "POST"),
    "/resend/emails/batch": ("POST",),
    "/resend/emails/{message_id}": ("GET", "PATCH"),
    "/resend/emails/{message_id}/cancel": ("POST",),
    "/resend/emails/receiving": ("GET",),
    "/resend/emails/receiving/{received_id}": ("GET",),
    "/resend/emails/receiving/{received_id}/attachments": ("GET",),
    "/resend/emails/receiving/{received_id}/attachments/{file_id}": ("GET",),
    "/resend/templates": ("GET", "POST"),
    "/resend/templates/{template_id}": ("GET", "PATCH", "DELETE"),
    "/resend/domains": ("GET", "POST"),
    "/resend/domains/{domain}": ("GET", "PATCH", "DELETE"),
    "/resend/domains/{domain}/verify": ("POST",),
    "/resend/api-keys": ("GET", "POST"),
    "/resend/api-keys/{key_id}": ("PATCH", "DELETE"),
    "/resend/suppressions": ("GET", "POST"),
    "/resend/suppressions/batch/add": ("POST",),
    "/resend/suppressions/{address}": ("GET", "DELETE"),
    "/resend/webhooks": ("GET", "POST"),
    "/resend/webhooks/{endpoint_id}": ("GET", "PATCH", "DELETE"),
    "/resend/webhooks/{endpoint_id}/signing-secret/rotate": ("POST",),
    "/resend/webhooks/{endpoint_id}/events": ("GET",),
    "/resend/webhooks/{endpoint_id}/events/{event_id}/replay": ("POST",),
    "/resend/{resource}": _ANY_METHOD,
    "/resend/{resource}/{resource_id}": _ANY_METHOD,
    "/resend/{resource}/{resource_id}/{action}": _ANY_METHOD,
    "/postmark/email": ("POST",),
    "/postmark/email/batch": ("POST",),
    "/postmark/email/withTemplate": ("POST",),
    "/postmark/email/batchWithTemplates": ("POST",),
    "/postmark/messages/inbound": ("GET",),
    "/postmark/messages/inbound/{received_id}/details": ("GET",),
    "/postmark/{resource}": _ANY_METHOD,
    "/postmark/{resource}/{resource_id}": _ANY_METHOD,
}

#: Path of each file -> how to make its content from what it contains now.
GENERATED: Final[Mapping[str, Callable[[str], str]]] = {
    "docs/provisioning.schema.json": _provisioning,
    "api.yaml": _api,
    "docs/openapi.json": _openapi,
    "docs/errors.md": _errors,
    "docs/security.md": _budgets,
    "layers/shared/pillarbox/domain/errors.py": _of_codes("CODES", lambda it: (it.status, it.type)),
    "layers/shared/pillarbox/http/mcp/tools.json": _tools,
    "layers/shared/pillarbox/http/postmark.py": _of_codes("_ERRORS", lambda it: it.postmark),
    "layers/shared/pillarbox/http/resend/replies.py": _of_codes("_ERRORS", lambda it: it.resend),
    "layers/shared/pillarbox/http/routes.py": _routes,
    "packages/pillarbox/src/pillarbox_client/operations.py": _client(python.operations),
    "packages/pillarbox/src/pillarbox_client/types.py": _client(python.types),
    "packages/pillarbox-js/src/operations.js": _client(javascript.operations),
    "packages/pillarbox-js/src/types.d.ts": _client(javascript.types),
    "relay/replies.py": _of_codes("_REFUSALS", lambda it: it.smtp),
    "stacks/edge.yaml": _edge,
} | {str(guide.relative_to(ROOT)): with_code for guide in sorted(GUIDES.glob("*.md"))}
