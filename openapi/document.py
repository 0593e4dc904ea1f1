"""The document as a whole."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from openapi.answers import Error
from openapi.errors import ERRORS, EVERYWHERE, example_of, headers_of, response_of
from openapi.operations import OPERATIONS, PATH_PARAMETERS, Operation
from openapi.requests import FIELDS, enriched
from pillarbox.domain.errors import CODES
from pillarbox.domain.idempotency import MAX_IDEMPOTENCY_KEY

_DESCRIPTION: Final = """\
One-to-one transactional email: receipts, password resets, magic links, one-time codes.

Every request carries an API key in `X-API-Key` and a `User-Agent` that names the application.
Every error is the same envelope with a stable `code`; every answer has an `X-Request-Id`.
`{base_url}/api/v1/v1/…` answers as `{base_url}/api/v1/…` does.
"""
_TAGS: Final = {
    "Emails": "Sending, and what became of it.",
    "Starter templates": "Built-in templates.",
    "Saved templates": "Templates of the account; they are written in the dashboard.",
}
_HEADERS: Final = {
    "X-Request-Id": {
        "description": "Name it when you ask for help.",
        "required": True,
        "schema": {"type": "string"},
    },
    "Idempotent-Replay": {
        "description": "Set when this is the stored answer to an earlier request.",
        "schema": {"type": "string", "enum": ["true"]},
    },
    "Retry-After": {
        "description": "Seconds to wait; with `idempotency_in_flight`.",
        "schema": {"type": "integer", "examples": [5]},
    },
    "RateLimit-Limit": {
        "description": "Messages that the full window takes.",
        "schema": {"type": "integer"},
    },
    "RateLimit-Remaining": {
        "description": "Messages that still fit into it.",
        "schema": {"type": "integer"},
    },
    "RateLimit-Reset": {
        "description": "Seconds until it ends.",
        "schema": {"type": "integer"},
    },
    "Allow": {
        "description": "The methods of the path (RFC 9110 section 10.2.1).",
        "required": True,
        "schema": {"type": "string", "examples": ["GET, DELETE"]},
    },
}
_IDEMPOTENCY_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Visible ASCII, its own for each operation and the same for its retries."
    " For 24 hours the first success is answered again, and nothing is sent twice.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_IDEMPOTENCY_KEY,
        "pattern": "^[!-~]+$",
    },
}
_REFERENCE: Final = "#/components/schemas/{model}"


#: For readers of the API: the classes' own texts are for readers of the code.
_ENUMS: Final = {
    "Bucket": "What one row of analytics covers.",
    "EventKind": "What can happen to a message or to one of its recipients.",
    "SortBy": "What a list of messages descends by.",
    "Status": "What became of a message, as far as is known.",
}


def document() -> dict[str, Any]:
    """Make the OpenAPI 3.1 document."""
    schemas = _schemas()
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for operation in OPERATIONS:
        paths[operation.path][operation.method] = _operation(operation, schemas)
    queries = {operation.query for operation in OPERATIONS if operation.query}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Pillarbox",
            "version": version("pillarbox"),
            "description": _DESCRIPTION,
        },
        "servers": [
            {
                "url": "{base_url}/api",
                "variables": {"base_url": {"default": "http://127.0.0.1:8080"}},
            }
        ],
        "security": [{"ApiKey": []}],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": dict(paths),
        "components": {
            "securitySchemes": {
                "ApiKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-API-Key",
                    "description": "`bx_live_…` or `bx_preview_…`. A key in `Authorization`"
                    " does not count.",
                }
            },
            "headers": _HEADERS,
            "examples": {code: example_of(code) for code in ERRORS},
            "schemas": {
                name: schema
                for name, schema in schemas.items()
                if name not in {model.__name__ for model in queries}
            },
        },
    }


def written() -> str:
    """The document as it is committed."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def _operation(operation: Operation, schemas: Mapping[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": operation.description
        + (f"\n\nThe key needs the permission `{operation.scope}`." if operation.scope else ""),
    }
    if operation.scope:
        described["x-required-permission"] = operation.scope
    if parameters := [*_parameters(operation, schemas)]:
        described["parameters"] = parameters
    if operation.body:
        content = {"schema": _reference(operation.body), "examples": operation.body_examples}
        described["requestBody"] = {
            "required": operation.body_required,
            "content": {"application/json": content},
        }
    described["responses"] = _responses(operation)
    return described


def _parameters(operation: Operation, schemas: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    for name, (schema, text) in PATH_PARAMETERS.items():
        if f"{{{name}}}" in operation.path:
            yield {
                "name": name,
                "in": "path",
                "required": True,
                "description": text,
                "schema": schema,
            }
    if operation.query:
        asked = schemas[operation.query.__name__]
        for name, schema in asked["properties"].items():
            parameter = {
                "name": name,
                "in": "query",
                "required": name in asked.get("required", ()),
                "description": schema["description"],
                "schema": _given(schema),
            }
            if "examples" in schema:
                parameter["example"] = schema["examples"][0]
            yield parameter
    if operation.idempotent:
        yield _IDEMPOTENCY_KEY


def _given(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a query parameter: no text is null."""
    branches = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    plain = branches[0] if branches else schema
    return {key: value for key, value in plain.items() if key not in {"description", "examples"}}


def _responses(operation: Operation) -> dict[str, Any]:
    names = ["X-Request-Id", *(["Idempotent-Replay"] if operation.idempotent else [])]
    success: dict[str, Any] = {"description": "Done.", "headers": headers_of(names)}
    if operation.answer:
        schema = _reference(operation.answer)
        if operation.answer_is_list:
            schema = {"type": "array", "items": schema}
        success["content"] = {
            "application/json": {"schema": schema, "example": operation.answer_example}
        }
    if operation.links:
        success["links"] = {
            target: {"operationId": target, "parameters": dict(parameters)}
            for target, parameters in operation.links.items()
        }
    own = (*operation.errors, *(["scope_required"] if operation.scope else []))
    by_status: dict[int, list[str]] = defaultdict(list)
    for code in dict.fromkeys((*EVERYWHERE, *own)):
        by_status[CODES[code][0]].append(code)
    errors = {str(status): response_of(status, by_status[status]) for status in sorted(by_status)}
    return {"200" if operation.answer else "204": success} | errors


def _schemas() -> dict[str, Any]:
    """Every model that is used, by its name; aliases, which have no title, are put in place."""
    used: set[type[BaseModel]] = {Error, *FIELDS}
    used |= {operation.answer for operation in OPERATIONS if operation.answer}
    _, made = models_json_schema(
        [(model, "validation") for model in sorted(used, key=lambda model: model.__name__)],
        ref_template=_REFERENCE,
    )
    definitions = made["$defs"]
    aliases = {name: value for name, value in definitions.items() if "title" not in value}
    schemas = {
        name: _plain(value, aliases) for name, value in definitions.items() if name not in aliases
    }
    for name, text in _ENUMS.items():
        schemas[name]["description"] = text
    for model in FIELDS:
        schemas[model.__name__] = enriched(model, schemas[model.__name__])
    return schemas


def _plain(schema: Any, aliases: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON
    """A schema without titles and empty defaults, its references to aliases resolved."""
    if isinstance(schema, list):
        return [_plain(item, aliases) for item in schema]
    if not isinstance(schema, dict):
        return schema
    name = schema.get("$ref", "").rpartition("/")[2]
    if name in aliases:
        schema = aliases[name] | {key: value for key, value in schema.items() if key != "$ref"}
    return {
        key: {field: _plain(inner, aliases) for field, inner in value.items()}
        if key == "properties"
        else _plain(value, aliases)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "default" and value in (None, "", {}))
    }


def _reference(model: type[BaseModel]) -> dict[str, Any]:
    return {"$ref": _REFERENCE.format(model=model.__name__)}
