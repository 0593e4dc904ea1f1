"""The operations that the client packages have a method for, read from the document of keys."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

#: JSON-RPC for agents, who bring their own client, and what only the service's operator calls.
_LEFT_OUT: Final = re.compile(r"/api/v1/(mcp$|operator/)")
_IDEMPOTENCY_KEY: Final = "Idempotency-Key"

type Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A part of the path or of the query."""

    name: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class ClientOperation:
    """What a client needs to know of an operation."""

    name: str
    summary: str
    method: str
    path: str
    path_parameters: tuple[Parameter, ...]
    query: tuple[Parameter, ...]
    body: Schema | None
    body_required: bool
    idempotent: bool
    result: Schema | None


def operations_of(document: Mapping[str, Any]) -> Iterator[ClientOperation]:
    """Return the operations of a document, in its order."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if not _LEFT_OUT.match(path):
                yield _operation(document, path, method, operation)


def event_schemas(document: Mapping[str, Any]) -> list[str]:
    bodies = [methods["post"]["requestBody"] for methods in document["webhooks"].values()]
    references = [body["content"]["application/json"]["schema"]["$ref"] for body in bodies]
    return list(dict.fromkeys(map(schema_name, references)))


def schema_name(reference: str) -> str:
    return reference.rpartition("/")[2]


def is_object(schema: Schema) -> bool:
    """Return whether a schema has named fields."""
    return "properties" in schema


def _operation(
    document: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any]
) -> ClientOperation:
    parameters = [_resolved(document, each) for each in operation.get("parameters", [])]
    named = {each["name"]: Parameter(each["name"], each["schema"]) for each in parameters}
    body = operation.get("requestBody")
    (success,) = (code for code in operation["responses"] if code.startswith("2"))
    return ClientOperation(
        name=operation["operationId"],
        summary=operation["summary"],
        method=method.upper(),
        path=path,
        path_parameters=tuple(named[name] for name in re.findall(r"\{(\w+)\}", path)),
        query=tuple(named[each["name"]] for each in parameters if each["in"] == "query"),
        body=_json(body),
        body_required=bool(body and body.get("required")),
        idempotent=_IDEMPOTENCY_KEY in named,
        result=_json(_resolved(document, operation["responses"][success])),
    )


def _resolved(document: Mapping[str, Any], part: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON
    if "$ref" not in part:
        return part
    kind, name = part["$ref"].split("/")[-2:]
    return document["components"][kind][name]


def _json(part: Mapping[str, Any] | None) -> Schema | None:
    """Return the schema of the JSON in a request or a response."""
    schema: Schema | None = ((part or {}).get("content", {}).get("application/json", {})).get(
        "schema"
    )
    return schema
