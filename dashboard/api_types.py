"""Writes the types of the API in TypeScript, from docs/openapi.json.

It knows the parts of JSON Schema that the document uses, and refuses others.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

type Schema = Mapping[str, Any]

_METHODS: Final = ("get", "post", "put", "patch", "delete")
_SIMPLE: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}
_HEADER: Final = "// Written by dashboard/api_types.py from docs/openapi.json.\n"


class UnknownSchema(Exception):
    """The document uses a part of JSON Schema that this module does not know."""


def api_types(document: Schema) -> str:
    """Return a module with a type for each schema and `Operations`, by method and path.

    Raises:
        UnknownSchema: the document has a schema that cannot be written.
    """
    schemas = [
        f"export type {name} = {_type(schema)};\n"
        for name, schema in document["components"]["schemas"].items()
    ]
    shared = document["components"].get("responses", {})
    operations = [
        f"  {_name(method, path)}: {_operation(item[method], shared)};\n"
        for path, item in document["paths"].items()
        for method in _METHODS
        if method in item
    ]
    return "\n".join(
        [_HEADER, *schemas, f"export interface Operations {{\n{''.join(operations)}}}\n"]
    )


def _name(method: str, path: str) -> str:
    """Return the name of an operation in the dashboard, which asks its own service alone."""
    return json.dumps(f"{method.upper()} {path.removeprefix('/api')}")


def _operation(operation: Schema, shared: Mapping[str, Schema]) -> str:
    query = {
        parameter["name"]: (parameter["schema"], parameter.get("required", False))
        for parameter in operation.get("parameters", [])
        if parameter.get("in") == "query"  # a query's are never shared
    }
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    answers = [
        _type(answer["content"]["application/json"]["schema"])
        for status, own in operation["responses"].items()
        for answer in [shared.get(own.get("$ref", "").rpartition("/")[2], own)]
        if re.fullmatch("2..", status) and "application/json" in answer.get("content", {})
    ]
    return (
        f"{{ query: {_members(query)}; body: {_type(body['schema']) if body else 'undefined'};"
        f" response: {' | '.join(dict.fromkeys(answers)) or 'undefined'} }}"
    )


def _type(schema: Schema) -> str:
    """Return a schema as a type."""
    match schema:
        case {"$ref": str(reference)}:
            return reference.rpartition("/")[2]
        case {"type": "object"} | {"properties": _}:  # `allOf` beside it only adds conditions
            return _object(schema)
        case {"const": constant}:
            return json.dumps(constant)
        case {"enum": list(values)}:
            return " | ".join(json.dumps(value) for value in values)
        case {"anyOf": list(choices)} | {"oneOf": list(choices)}:
            return " | ".join(dict.fromkeys(_type(choice) for choice in choices))
        case {"type": "array"}:
            return f"({_type(schema.get('items', {}))})[]"
        case {"type": str(name)} if name in _SIMPLE:
            return _SIMPLE[name]
        case _ if not schema.keys() - {"description", "title", "default", "examples"}:
            return "unknown"
    raise UnknownSchema(json.dumps(schema))


def _object(schema: Schema) -> str:
    properties = schema.get("properties")
    if properties is None:
        values = schema.get("additionalProperties", {})
        return f"Record<string, {_type(values) if isinstance(values, Mapping) else 'unknown'}>"
    required = schema.get("required", [])
    return _members({name: (part, name in required) for name, part in properties.items()})


def _members(members: Mapping[str, tuple[Schema, bool]]) -> str:
    lines = [
        f"{json.dumps(name)}{'' if required else '?'}: {_type(schema)};"
        for name, (schema, required) in members.items()
    ]
    return f"{{ {' '.join(lines)} }}" if lines else "Record<never, never>"
