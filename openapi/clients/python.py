"""The generated modules of packages/pillarbox: `types.py` and `operations.py`."""

import keyword
import re
import subprocess
import sys
import textwrap
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
        "string": "str",
        "integer": "int",
        "number": "float",
        "boolean": "bool",
        "null": "None",
    },
    literal=lambda values: f"Literal[{', '.join(map(_literal, values))}]",
    array="list[{}]",
    mapping="dict[str, {}]",
    anything="Any",
).type_of
_NOTE: Final = "# Written by `make openapi` from docs/openapi.json."
_WIDTH: Final = 96


def types(document: Mapping[str, Any]) -> str:
    """Return the module of the types of all requests, responses and webhook events."""
    lines = [
        '"""The shapes of requests, responses and webhook events, with the names of the API."""',
        "",
        _NOTE,
        "# ruff: noqa: D205  descriptions of the document",
        "",
        "from __future__ import annotations",
        "",
        "from typing import Any, Literal, NotRequired, TypeAlias, TypedDict",
    ]
    # What is evaluated at once comes after what it names.
    schemas = sorted(document["components"]["schemas"].items(), key=lambda each: _form(each[1]))
    for name, schema in schemas:
        lines += ["", *_definition(name, schema)]
    union = " | ".join(event_schemas(document))
    lines += ["", f"WebhookEvent: TypeAlias = {union}", '"""What a webhook delivers."""']
    return _formatted(lines)


def operations(document: Mapping[str, Any]) -> str:
    """Return the module with a method for each operation, once for each kind of client."""
    found = [*operations_of(document)]
    lines = [
        '"""A method for each operation of the API."""',
        "",
        _NOTE,
        "# ruff: noqa: A002, ANN401, PLR0913  a method has the parameters of its operation",
        "",
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING, Any",
        "",
        "if TYPE_CHECKING:",
        "    from collections.abc import Awaitable",
        "",
        "    from pillarbox_client import types",
        "",
        "from pillarbox_client.request import Request, new_idempotency_key, segment",
    ]
    for name, kind, result in (
        ("Operations", "def", "Any"),
        ("AsyncOperations", "async def", "Awaitable[Any]"),
    ):
        lines += [
            "",
            "",
            f"class {name}:",
            '    """The operations that an API key may call."""',
            "",
            f"    def _send(self, made: Request) -> {result}:",
            "        raise NotImplementedError",
        ]
        for operation in found:
            lines += ["", *_method(operation, kind)]
    return _formatted(lines)


def _formatted(lines: list[str]) -> str:
    """Return a module as ruff formats it."""
    format_ = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "packages/types.py", "-"]
    source = "\n".join(lines)
    done = subprocess.run(  # noqa: S603  our own formatter
        format_, input=source, capture_output=True, text=True, check=True
    )
    return done.stdout


def _form(schema: Schema) -> int:
    """Return the place of a definition: an alias, a class, or a call for names like `from`."""
    return 0 if not is_object(schema) else 1 + any(map(keyword.iskeyword, schema["properties"]))


def _definition(name: str, schema: Schema) -> list[str]:
    described = _docstring(schema.get("description", ""), "    " if is_object(schema) else "")
    if not is_object(schema):
        # In quotes it may name a class that follows.
        aliased = _type(schema)
        quoted = f'"{aliased}"' if "$ref" in str(schema) and '"' not in aliased else aliased
        return [f"{name}: TypeAlias = {quoted}", *described]
    required = set(schema.get("required", ()))
    fields = {
        field: _type(each) if field in required else f"NotRequired[{_type(each)}]"
        for field, each in schema["properties"].items()
    }
    if any(map(keyword.iskeyword, fields)):
        rows = [f'        "{field}": {each},' for field, each in fields.items()]
        call = [f"{name} = TypedDict(", f'    "{name}",', "    {", *rows, "    },", ")"]
        return [*call, *_docstring(schema.get("description", ""), "")]
    lines = [f"class {name}(TypedDict):", *described, ""]
    for field, each in schema["properties"].items():
        lines.append(f"    {field}: {fields[field]}")
        lines += _docstring(each.get("description", ""), "    ")
    return lines


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _docstring(text: str, indent: str) -> list[str]:
    if not text:
        return []
    wrapped = textwrap.wrap(text.replace("\\", "\\\\"), _WIDTH - len(indent))
    if len(wrapped) == 1:
        return [f'{indent}"""{wrapped[0]}"""']
    first, *rest = wrapped
    return [f'{indent}"""{first}', *(f"{indent}{line}" for line in rest), f'{indent}"""']


def _method(operation: ClientOperation, kind: str) -> Iterator[str]:
    path = re.sub(r"\{(\w+)\}", r"{segment(\1)}", operation.path)
    given = [f'"{operation.method}"', f'{"f" * bool(operation.path_parameters)}"{path}"']
    parameters = ["self"]
    parameters += [f"{each.name}: {_annotation(each.schema)}" for each in operation.path_parameters]
    if operation.body is not None:
        optional = "" if operation.body_required else " | None = None"
        parameters.append(f"body: {_annotation(operation.body)}{optional}")
        given.append("body=body")
    named = [
        f"{_snake(each.name)}: {_annotation(each.schema)} | None = None" for each in operation.query
    ]
    if operation.query:
        pairs = ", ".join(f'"{each.name}": {_snake(each.name)}' for each in operation.query)
        given.append(f"query={{{pairs}}}")
    if operation.idempotent:
        named.append("idempotency_key: str | None = None")
        given.append("idempotency_key=idempotency_key or new_idempotency_key()")
    parameters += ["*", *named] if named else []
    result = "None" if operation.result is None else _annotation(operation.result)
    wait = "await " if kind.startswith("async") else ""
    call = f"{wait}self._send(Request({', '.join(given)}))"
    yield f"    {kind} {operation.name}({', '.join(parameters)}) -> {result}:"
    yield f'        """{operation.summary}: `{operation.method} {operation.path}`."""'
    if operation.result is None:
        yield f"        {call}"
    else:
        yield f"        result: {result} = {call}"
        yield "        return result"


def _annotation(schema: Schema) -> str:
    """Return the annotation of a schema, in another module than that of the types."""
    return _type(schema, "types.")


def _snake(name: str) -> str:
    """Return a name of the query as an argument: `sort_by`, `from_`."""
    spelled = re.sub(r"(?=[A-Z])", "_", name).lower()
    return f"{spelled}_" if keyword.iskeyword(spelled) else spelled
