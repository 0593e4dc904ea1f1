"""The parameters of operations: in the path, in the query and in header fields."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from openapi.operation import Operation
from openapi.requests import STARTER_SLUG
from openapi.schemas import Schemas
from pillarbox.domain.messages.idempotency import MAX_IDEMPOTENCY_KEY
from pillarbox.http.templates.wire import MAX_VERSION

_TEXT: Final = {"type": "string"}
_UUID: Final = _TEXT | {"format": "uuid"}
_VERSION: Final = {"type": "integer", "minimum": 1, "maximum": MAX_VERSION}
#: Path parameter -> its schema, its description, and the error if there is no such object.
_IN_PATH: Final[Mapping[str, tuple[Mapping[str, Any], str, str]]] = {
    "message_id": (_UUID, "The `messageId` of a send.", "message_not_found"),
    "id": (_UUID, "The template's id.", "template_not_found"),
    "slug": (STARTER_SLUG, "A starter template's slug.", "template_not_found"),
    "received_id": (_UUID, "The id of a received mail.", "received_not_found"),
    "endpoint_id": (_UUID, "The endpoint's id.", "webhook_not_found"),
    "delivery_id": (_TEXT, "The `id` of a delivery.", "delivery_not_found"),
    "version": (_VERSION, "The number of a version.", "version_not_found"),
    "session_id": (_TEXT, "The `id` of a session.", "session_not_found"),
    "passkey_id": (_TEXT, "The `id` of a passkey.", "passkey_not_found"),
    "domain": (_TEXT, "A domain of the account.", "domain_not_found"),
    "sender": (_TEXT, "A sender of the account.", "sender_not_found"),
    "key_id": (_TEXT, "The `id` of an API key.", "key_not_found"),
    "member_id": (_TEXT, "The `id` of a member.", "member_not_found"),
    "address": (_TEXT, "The address, in any letter case.", ""),
    "queue": (_TEXT, "The `name` of a queue with dead letters of its own.", ""),
    "account_id": (_TEXT, "The `id` of an account.", "account_not_found"),
}
_IDEMPOTENCY_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Visible ASCII. Use a new key for each operation and the same key for its"
    " retries. For 24 hours, a retry gets the first successful response again, and nothing is"
    " sent twice.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_IDEMPOTENCY_KEY,
        "pattern": "^[!-~]+$",
    },
}

_REVISION: Final = {
    "name": "If-Match",
    "in": "header",
    "required": True,
    "description": "The `revision` of the draft that the request replaces or publishes. If"
    " another user changed the draft, the response is 409 `draft_changed`.",
    "schema": {"type": "string", "pattern": '^"?(0|[1-9][0-9]{0,8})"?$'},
    "example": '"0"',
}
_ALONE: Final = {
    "name": "If-None-Match",
    "in": "header",
    "description": "With `*` the account may have no other of this name, or URL: use it if your"
    " program may run twice at once. `If-Match` names the ids of those that it may have. For any"
    " other one the response is 409 `already_exists`. Other values count as none.",
    "schema": {"type": "string", "examples": ["*"]},
}
_ACCOUNT: Final = {
    "name": "X-Account",
    "in": "header",
    "description": "The id of the account that the request is for. Only a key of an operator's own"
    " account with `accounts:write`, or `accounts:read` for a read, may send it.",
    "schema": {"type": "string", "pattern": "^[0-9a-z]{12}$"},
}


def not_found_of(operation: Operation) -> list[str]:
    """Return the errors for objects that the path names and that do not exist."""
    return [_IN_PATH[name][2] for name in _names_in(operation.path) if _IN_PATH[name][2]]


def parameters_of(operation: Operation, schemas: Schemas) -> Iterable[dict[str, Any]]:
    """Return the parameters of an operation as OpenAPI describes them."""
    for name in _names_in(operation.path):
        schema, text, _ = _IN_PATH[name]
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "description": text,
            "schema": schema,
        }
    if operation.query:
        query = schemas.of(operation.query)
        for name, schema in query["properties"].items():
            parameter = {
                "name": name,
                "in": "query",
                "required": name in query.get("required", ()),
                "description": schema["description"],
                "schema": _parameter_schema(schema),
            }
            if "examples" in schema:
                parameter["example"] = schema["examples"][0]
            yield parameter
    if operation.takes_account:
        yield _ACCOUNT
    if operation.takes_revision:
        yield _REVISION
    if operation.creates_named:
        yield _ALONE
    if operation.idempotent:
        yield _IDEMPOTENCY_KEY


def _names_in(path: str) -> list[str]:
    return re.findall(r"\{(\w+)\}", path)


def _parameter_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a query parameter, which cannot be null."""
    branches = [branch for branch in schema.get("anyOf", ()) if branch != {"type": "null"}]
    plain = branches[0] if branches else schema
    return {key: value for key, value in plain.items() if key not in {"description", "examples"}}
