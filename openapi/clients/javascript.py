"""The generated modules of packages/pillarbox-js: `operations.js` and `types.d.ts`."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from openapi.clients.operations import (
    ClientOperation,
    Schema,
    event_schemas,
    is_object,
    operations_of,
)
from openapi.clients.spelling import Language

_type: Final = Language(
    scalars={
        "string": "string",
        "integer": "number",
        "number": "number",
        "boolean": "boolean",
        "null": "null",
    },
    literal=lambda values: " | ".join(map(json.dumps, values)),
    array="Array<{}>",
    mapping="Record<string, {}>",
    anything="unknown",
).type_of
_NOTE: Final = "// Written by `make openapi` from docs/openapi.json."


def operations(document: Mapping[str, Any]) -> str:
    """Return the module with the table of all operations."""
    rows = []
    for operation in operations_of(document):
        row: dict[str, Any] = {"method": operation.method, "path": operation.path}
        if operation.body is not None:
            row["body"] = True
        if operation.query:
            row["query"] = True
        if operation.idempotent:
            row["idempotent"] = True
        rows.append(f"  {_camel(operation.name)}: {_row(row)},")
    return "\n".join([_NOTE, "export const operations = {", *rows, "};"]) + "\n"


def types(document: Mapping[str, Any]) -> str:
    """Return the declarations of all types and of a method for each operation."""
    lines = [_NOTE]
    for name, schema in document["components"]["schemas"].items():
        lines += ["", *_comment(schema.get("description", ""), ""), *_definition(name, schema)]
    union = " | ".join(event_schemas(document))
    lines += [
        "",
        "/** What a webhook delivers. */",
        f"export type WebhookEvent = {union};",
        "",
        "export interface RequestOptions {",
        "  /** Ends the request and its retries. */",
        "  signal?: AbortSignal;",
        "}",
        "",
        "export interface SendOptions extends RequestOptions {",
        "  /** Without it, each call has a key of its own, which its retries repeat. */",
        "  idempotencyKey?: string;",
        "}",
        "",
        "/** The operations that an API key may call. */",
        "export interface Operations {",
    ]
    for operation in operations_of(document):
        lines += _method(operation)
    return "\n".join([*lines, "}"]) + "\n"


def _row(row: Mapping[str, Any]) -> str:
    return f"{{ {', '.join(f'{name}: {json.dumps(value)}' for name, value in row.items())} }}"


def _definition(name: str, schema: Schema) -> Iterator[str]:
    if not is_object(schema):
        yield f"export type {name} = {_type(schema)};"
        return
    required = set(schema.get("required", ()))
    yield f"export interface {name} {{"
    for field, each in schema["properties"].items():
        yield from _comment(each.get("description", ""), "  ")
        yield f"  {field}{'' if field in required else '?'}: {_type(each)};"
    yield "}"


def _comment(text: str, indent: str) -> list[str]:
    return [f"{indent}/** {text.replace('*/', '* /')} */"] if text else []


def _method(operation: ClientOperation) -> Iterator[str]:
    parameters = [
        f"{_camel(each.name)}: {_type(each.schema)}" for each in operation.path_parameters
    ]
    if operation.body is not None:
        optional = "" if operation.body_required else "?"
        parameters.append(f"body{optional}: {_type(operation.body)}")
    if operation.query:
        fields = "; ".join(f"{each.name}?: {_type(each.schema)}" for each in operation.query)
        parameters.append(f"query?: {{ {fields} }}")
    parameters.append(f"options?: {'SendOptions' if operation.idempotent else 'RequestOptions'}")
    result = "void" if operation.result is None else _type(operation.result)
    yield f"  /** {operation.summary}: `{operation.method} {operation.path}`. */"
    yield f"  {_camel(operation.name)}({', '.join(parameters)}): Promise<{result}>;"


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)
