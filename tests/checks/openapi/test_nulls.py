"""Null is no field: what clients in C# and Java send for what is not given."""

from collections.abc import Iterator
from typing import Any

from openapi.operations import OPERATIONS
from pillarbox.domain.errors import ValidationFailed
from pillarbox.http.wire import WireModel, fields_of, model, validate
from tests.loops import for_each


def optional_fields(
    schema: Any, path: tuple[int | str, ...] = ()
) -> Iterator[tuple[int | str, ...]]:
    while "schema" in schema and schema["type"] != "model":
        schema = schema["schema"]
    if schema["type"] == "list":
        yield from optional_fields(schema.get("items_schema", {"type": "any"}), (*path, 0))
    elif schema["type"] == "dict":
        yield from optional_fields(schema["values_schema"], (*path, "a"))
    elif schema["type"] == "model":
        for field in fields_of(schema["cls"]).values():
            if field.schema["type"] == "default":
                yield (*path, field.name)
            yield from optional_fields(field.schema, (*path, field.name))


FIELDS = [
    (operation.body, path)
    for operation in OPERATIONS
    if isinstance(operation.body, type)
    and issubclass(operation.body, WireModel)
    and not operation.rpc
    for path in optional_fields(model(operation.body))
]


@for_each(("shape", "path"), FIELDS)
def test_null_is_no_field(shape: type[WireModel], path: tuple[int | str, ...]) -> None:
    bodies: list[Any] = [{}, {path[-1]: None}]
    for step in reversed(path[:-1]):
        bodies = [[body] if step == 0 else {step: body} for body in bodies]
    assert errors_of(shape, bodies[0]) == errors_of(shape, bodies[1])


def errors_of(shape: type[WireModel], body: Any) -> set[tuple[str, str]]:
    try:
        validate(shape, body)
    except ValidationFailed as failed:
        return {(error.field, error.code) for error in failed.errors}
    return set()


def test_the_walk_reaches_every_kind_of_field() -> None:
    paths = {".".join(map(str, path)) for _, path in FIELDS}
    assert {"replyTo", "attachments.0.inline", "unsubscribe.oneClick"} <= paths
    assert len(FIELDS) > 80
