"""The document as a whole."""

from collections import defaultdict
from functools import cache
from importlib.metadata import version
from typing import Any, Final, get_args

from openapi.errors import ERRORS, example_of
from openapi.operation import Operation
from openapi.operations import OPERATIONS
from openapi.parameters import parameters_of
from openapi.responses import responses_of
from openapi.schemas import Schemas
from openapi.shared import share
from openapi.webhooks import PAYLOADS, webhooks
from pillarbox.http.callers import COOKIE, KEY, SESSION
from pillarbox.http.json_types import ErrorEnvelope

_DESCRIPTION: Final = """\
One-to-one transactional email: receipts, password resets, magic links, one-time codes.

Every request has an API key in `X-API-Key` and a `User-Agent` that names the application. Some
routes also take a session of the dashboard, and those of the dashboard's own pages only that.
Every error has the same envelope with a stable `code`. Every response of the service has an
`X-Request-Id`; only the firewall's own and CloudFront's own responses may lack it.
"""
_TAGS: Final = {
    "Emails": "Send emails and look them up.",
    "Agents": "The same for programs that a language model steers.",
    "Starter templates": "Built-in templates.",
    "Saved templates": "Templates that were saved for the account.",
    "API key": "The key that a program uses.",
    "Template editor": "Drafts and versions of saved templates, for users of the dashboard.",
    "Sessions": "Signing in to the dashboard.",
    "Passkeys": "Passkeys (WebAuthn) of the dashboard's users.",
    "API keys": "The keys of the account, for its owners and developers.",
    "Suppressions": "Addresses that the account does not send to.",
    "Members": "The users of the dashboard with a role in the account.",
    "Account": "The account's settings and limits.",
    "Operator": "All accounts of the service, for its operators.",
    "Domains": "The domains and addresses that the account sends from, for the dashboard.",
    "Webhooks": "Addresses of your application that learn what happens to emails.",
}
_HEADERS: Final = {
    "X-Request-Id": {
        "description": "The id of the request. Name it if you ask for help.",
        "required": True,
        "schema": {"type": "string"},
    },
    "Cache-Control": {
        "description": "No cache may keep a response.",
        "required": True,
        "schema": {"type": "string", "enum": ["no-store"]},
    },
    "Set-Cookie": {
        "description": "Stores the session's cookie, or deletes it.",
        "required": True,
        "schema": {"type": "string"},
    },
    "Idempotent-Replay": {
        "description": "Present if this is the stored response to an earlier request.",
        "schema": {"type": "string", "enum": ["true"]},
    },
    "Retry-After": {
        "description": "The seconds to wait, with `idempotency_in_flight` and often with"
        " `service_unavailable`.",
        "schema": {"type": "integer", "examples": [5]},
    },
    "RateLimit-Limit": {
        "description": "The limit of messages in the minute, day or month.",
        "schema": {"type": "integer"},
    },
    "RateLimit-Remaining": {
        "description": "The number of messages that are left in it.",
        "schema": {"type": "integer"},
    },
    "RateLimit-Reset": {
        "description": "The seconds until it ends.",
        "schema": {"type": "integer"},
    },
    "RateLimit-Policy": {
        "description": "The account's limits (draft-ietf-httpapi-ratelimit-headers-10): `q`"
        " messages in a window of `w` seconds. The policy `recipients` counts the recipients of a"
        " day. Absent if nothing is limited.",
        "schema": {"type": "string", "examples": ['"minute";q=60;w=60, "day";q=300;w=86400']},
    },
    "RateLimit": {
        "description": "For each policy of `RateLimit-Policy`, how many are left (`r`) and after"
        " how many seconds the window ends (`t`). Others may send at the same time.",
        "schema": {"type": "string", "examples": ['"minute";r=59;t=42, "day";r=299;t=58242']},
    },
    "Allow": {
        "description": "The methods of the path (RFC 9110 section 10.2.1).",
        "required": True,
        "schema": {"type": "string", "examples": ["GET, DELETE"]},
    },
}


@cache
def all_schemas() -> Schemas:
    used = {kind for one in OPERATIONS for kind in (*get_args(one.response), one.body, one.query)}
    used |= {one.response for one in OPERATIONS if not get_args(one.response)}
    return Schemas((used | {ErrorEnvelope, *PAYLOADS}) - {None})


def document() -> dict[str, Any]:
    schemas = all_schemas()
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for operation in OPERATIONS:
        paths[f"/api{operation.path}"][operation.method] = _operation(operation, schemas)
    queries = {schemas.name_of(operation.query) for operation in OPERATIONS if operation.query}
    shared = share(paths)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Pillarbox",
            "version": version("pillarbox"),
            "description": _DESCRIPTION,
            "contact": {"name": "The operator of this Pillarbox"},
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [
            {
                "url": "{base_url}",
                "variables": {"base_url": {"default": "http://127.0.0.1:8080"}},
            }
        ],
        "security": [{KEY: []}],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": dict(paths),
        "webhooks": webhooks(schemas),
        "components": {
            "securitySchemes": {
                KEY: {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-API-Key",
                    "description": "`bx_live_…` or `bx_preview_…`. A key in `Authorization`"
                    " is ignored.",
                },
                SESSION: {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "`pbs_…`, the access token of a session in the dashboard. It"
                    " is for one account and has the permissions of the user's role there.",
                },
                COOKIE: {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "__Host-pillarbox",
                    "description": "The cookie of a session. No other route takes it.",
                },
            },
            **shared,
            "headers": _HEADERS,
            "examples": {code: example_of(code) for code in ERRORS},
            "schemas": {
                name: schema for name, schema in schemas.named.items() if name not in queries
            },
        },
    }


def _operation(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    caller = "key" if KEY in operation.security else "user's role"
    described: dict[str, Any] = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": operation.description
        + (
            f"\n\nThe {caller} needs the permission `{operation.scope}`." if operation.scope else ""
        ),
    }
    if operation.security != (KEY,):
        described["security"] = [{name: []} for name in operation.security]
    if operation.scope:
        described["x-required-permission"] = operation.scope
    if parameters := [*parameters_of(operation, schemas)]:
        described["parameters"] = parameters
    if operation.body:
        content = {"schema": schemas.reference(operation.body), "examples": operation.body_examples}
        described["requestBody"] = {
            "required": operation.body_required,
            "content": {"application/json": content},
        }
    described["responses"] = responses_of(operation, schemas)
    return described
