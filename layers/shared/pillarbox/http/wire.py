"""Declare the shapes of requests for pydantic's validator, and say what is wrong with a request.

A subclass of `pydantic.BaseModel` costs a cold start a fifth of its instructions: pydantic's
Python part, and the schemas that it derives from annotations. Here a field is declared with the
schema itself, from which `pydantic_core` makes the validator. The OpenAPI document is generated
from the same schemas, by pydantic.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from pydantic_core._pydantic_core import PydanticCustomError, SchemaValidator, ValidationError

from pillarbox.domain.errors import MAX_FAULTS, FieldError, Json, ValidationFailed, cut
from pillarbox.domain.ids import NOT_A_UUID, is_uuid
from pillarbox.http.messages.replies import to_camel
from pillarbox.http.requests import read_json

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
    from pydantic_core import ErrorDetails
    from pydantic_core.core_schema import CoreSchema, ValidationInfo

#: No valid request has as many fields. A larger one is refused as a whole, so that it does not
#: cost an error for each field.
_MAX_FIELDS: Final = 100
_UNKNOWN_FIELDS: Final = "forbid"

# Rules of fields in the document.
#: `pillarbox.domain.messages.header_text` as a regular expression of ECMA-262.
HEADER_TEXT: Final = r"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*$"
EMAIL: Final = {"type": "string", "format": "email"}


class Schema[T](dict[str, Any]):
    """A schema of pydantic-core; T is the type of the values that it returns."""


class WireField:
    """A field of a wire model: its schema, its name in JSON, and rules of the document alone."""

    def __init__(self, schema: Schema[Any], name: str, rules: Mapping[str, Any]) -> None:
        """Store them; without a name, the attribute's in camelCase is the name."""
        self.schema = schema
        self.name = name
        self.rules = rules

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or to_camel(name)


def required[T](schema: Schema[T], *, name: str = "", **rules: Any) -> T:  # noqa: ANN401  JSON
    """Declare a field that must be given.

    A text below a field describes it in the OpenAPI document. `rules` are there what functions of
    the schema check, in the words of JSON Schema; `named` is a schema of openapi/requests.py.
    """
    return cast("T", WireField(schema, name, rules))


def with_default[T](schema: Schema[T], default: T, **rules: Any) -> T:  # noqa: ANN401  JSON
    """Declare a parameter of a query that may be left out."""
    return cast("T", WireField(Schema(type="default", schema=schema, default=default), "", rules))


def optional_or[T](schema: Schema[T], default: T, **rules: Any) -> T:  # noqa: ANN401  JSON
    """Declare a field of a body that may be left out or null, which mean a default."""
    value = after(
        Schema[Any](type="nullable", schema=schema),
        lambda given: default if given is None else given,
    )
    return cast("T", WireField(Schema(type="default", schema=value, default=default), "", rules))


def optional[T](
    schema: Schema[T],
    *,
    name: str = "",
    check: "Callable[[T | None, ValidationInfo], T | None] | None" = None,
    **rules: Any,  # noqa: ANN401  JSON
) -> T | None:
    """Declare a field that may be left out or null, which mean the same.

    `check` is called with the value or None, even if the field is left out.
    """
    value: Schema[Any] = Schema(type="nullable", schema=schema)
    if check:
        value = after_fields(value, check)
    schema = Schema(type="default", schema=value, default=None, validate_default=bool(check))
    return cast("T | None", WireField(schema, name, rules))


def dropped() -> Any:  # noqa: ANN401  it stands in place of a field of any type
    """Declare that a shape does not have a field of its base."""
    return None


def text(*, least: int = 0, most: int | None = None) -> Schema[str]:
    """Return the schema of a string with so many characters."""
    return _limited("str", min_length=least or None, max_length=most)


def matching(
    pattern: str, code: str, message: str, *, least: int = 0, most: int | None = None
) -> Schema[str]:
    """Return the schema of a string that a regular expression matches as a whole."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise invalid(code, message)
        return value

    return after(text(least=least, most=most), check)


def uuid_text(hint: str = "") -> Schema[str]:
    """Return the schema of a string that is a UUID; its error ends with a hint."""

    def check(value: str) -> str:
        if not is_uuid(value):
            raise invalid("invalid_uuid", f"{NOT_A_UUID}{hint}")
        return value

    return after(text(), check)


def text_in_bytes(most: int, *, least: int = 0) -> Schema[str]:
    """Return the schema of a string with at most so many bytes in UTF-8."""

    def check(value: str) -> str:
        if len(value) > most or len(value.encode()) > most:
            raise invalid("too_large", f"must not be larger than {most} bytes")
        return value

    return after(text(least=least), check)


def whole_number(*, least: int, most: int) -> Schema[int]:
    """Return the schema of an integer; 1.0 is one, as in JSON Schema."""
    return before(_without_fraction, _limited("int", ge=least, le=most))


def _without_fraction(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def boolean() -> Schema[bool]:
    return Schema(type="bool")


def list_of[T](item: Schema[T], *, least: int = 0) -> Schema[list[T]]:
    """Return the schema of a list with so many items."""
    return _limited("list", items_schema=item, min_length=least or None)


def short_list[T](item: Schema[T], *, least: int = 0, most: int) -> Schema[list[T]]:
    """Return the schema of a list that is refused as a whole if it has more items."""

    def check(value: object) -> object:
        if isinstance(value, list) and len(value) > most:
            raise invalid("too_long", f"must have at most {most} items")
        return value

    return before(check, list_of(item, least=least))


def anything() -> Schema[Any]:
    return Schema(type="any")


def json_object() -> Schema[dict[str, Any]]:
    return Schema(type="dict", keys_schema=text(), values_schema=anything())


def texts_by_name() -> Schema[dict[str, str]]:
    """Return the schema of a JSON object whose values are strings."""
    return Schema(type="dict", keys_schema=text(), values_schema=text())


def object_of[T](schema: Schema[T], *, example: str) -> Schema[T]:
    """Return the schema of an object, which PHP writes as a list if it is empty."""

    def from_list(value: object) -> object:
        if isinstance(value, list) and value:  # as other services have them
            raise invalid("wrong_type", f"must be an object of names and values: {example}")
        return {} if value == [] else value

    return before(from_list, schema)


def models_by_name[M: WireModel](
    names: Schema[str], shape: type[M], *, most: int
) -> Schema[dict[str, M]]:
    """Return the schema of a JSON object with so many objects of one shape."""
    return Schema(type="dict", keys_schema=names, values_schema=model(shape), max_length=most)


def moment() -> Schema[datetime]:
    return Schema(type="datetime")


def enum[E: StrEnum](choices: type[E]) -> Schema[E]:
    """Return the schema of a member of an enum."""
    return Schema(
        type="enum", cls=choices, members=list(choices), sub_type="str", ref=_reference(choices)
    )


def model[M: WireModel](shape: type[M]) -> Schema[M]:
    """Return the schema of an object with the shape of a wire model."""
    fields: dict[str, Any] = {
        attribute: {
            "type": "model-field",
            "schema": field.schema,
            "validation_alias": field.name,
            "serialization_alias": field.name,
        }
        for attribute, field in fields_of(shape).items()
    }
    return Schema(
        type="model",
        cls=shape,
        config={"extra_fields_behavior": _UNKNOWN_FIELDS, "strict": True, "title": shape.__name__},
        ref=_reference(shape),
        schema=before(_limit_fields, Schema(type="model-fields", fields=fields)),
    )


def before[T](prepare: Callable[[object], object], schema: Schema[T]) -> Schema[T]:
    """Return a schema for what a function makes of the value in the request."""
    return Schema(
        type="function-before", function={"type": "no-info", "function": prepare}, schema=schema
    )


def _parse_flag(value: object) -> object:
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


#: Yes or no in a query string.
FLAG: Final = before(_parse_flag, boolean())


def after[T](schema: Schema[T], *checks: Callable[[T], T]) -> Schema[T]:
    """Return a schema whose values also pass some functions."""
    for check in checks:
        schema = Schema(
            type="function-after", function={"type": "no-info", "function": check}, schema=schema
        )
    return schema


def after_fields[T](schema: Schema[T], *checks: "Callable[[T, ValidationInfo], T]") -> Schema[T]:
    """Do the same with functions that also get the valid fields declared before this one."""
    for check in checks:
        schema = Schema(
            type="function-after", function={"type": "with-info", "function": check}, schema=schema
        )
    return schema


class WireModel:
    """The base of all shapes: camelCase names, strict types, no unknown fields."""

    # The attributes that the validator sets.
    __slots__ = (
        "__dict__",
        "__pydantic_extra__",
        "__pydantic_fields_set__",
        "__pydantic_private__",
    )
    #: The attributes of the fields that were given.
    __pydantic_fields_set__: set[str]
    #: For pydantic, which reads it when it writes the JSON schema.
    model_config: ClassVar[Mapping[str, str]] = {"extra": _UNKNOWN_FIELDS}
    #: Whether the fields are the parameters of a query string.
    in_query: ClassVar[bool] = False

    @classmethod
    @cache
    def validator(cls) -> SchemaValidator:
        """Return the validator of this shape; the first use makes it."""
        return SchemaValidator(cast("CoreSchema", model(cls)))

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> Schema[Any]:
        return model(cls)


def fields_of(shape: type[WireModel]) -> Mapping[str, WireField]:
    """Return the fields of a shape by their attributes, in the order of their validation.

    Those of its bases come first. One that the shape drops is not among them.
    """
    names = dict.fromkeys(name for base in shape.__mro__[-3::-1] for name in vars(base))
    fields = {name: getattr(shape, name) for name in names}
    return {name: field for name, field in fields.items() if isinstance(field, WireField)}


def model_at(shape: type[WireModel], path: Iterable[int | str]) -> type[WireModel]:
    """Return the wire model of an object in a value of a shape, from the path to the object."""
    schema: Schema[Any] = model(shape)
    for step in path:
        if schema["type"] == "model":
            fields = fields_of(schema["cls"]).values()
            schema = next(field.schema for field in fields if field.name == step)
        else:  # an item of a list, or a value of an object
            schema = schema.get("items_schema") or schema["values_schema"]
        while schema["type"] != "model" and "schema" in schema:  # it may be null, or is checked
            schema = schema["schema"]
    found: type[WireModel] = schema["cls"]
    return found


def invalid(code: str, message: str) -> PydanticCustomError:
    """Return the error that a function of a schema raises, with a stable code."""
    # To pydantic the message is a template: it must not interpret braces in ours.
    return PydanticCustomError(code, "{message}", {"message": message})


def _limit_fields(value: object) -> object:
    if isinstance(value, dict) and len(value) > _MAX_FIELDS:
        raise invalid("too_many_fields", f"has more than {_MAX_FIELDS} fields")
    return value


def _limited(kind: str, **limits: object) -> Schema[Any]:
    return Schema(type=kind, **{name: limit for name, limit in limits.items() if limit is not None})


def _reference(kind: type) -> str:
    """Return the name by which pydantic finds a type that several schemas contain."""
    return f"{kind.__module__}.{kind.__qualname__}:{id(kind)}"


#: In bytes, of a name that the client chose: a response must not grow with the request.
MAX_NAME: Final = 64

_TYPES: Final[Mapping[str, str]] = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "model_type": "must be an object",
    "string_type": "must be a string",
}


def validate[M: WireModel](shape: type[M], value: Json, *, strict: bool | None = None) -> M:
    """Validate a JSON value against a wire model; without `strict` texts may be numbers."""
    try:
        valid: M = shape.validator().validate_python(value, strict=strict)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        raise ValidationFailed(
            *(_field_error(item, shape) for item in details[:MAX_FAULTS]),
            unlisted=max(0, len(details) - MAX_FAULTS),
        ) from None
    return valid


def read_body[M: WireModel](event: "APIGatewayProxyEvent", shape: type[M]) -> M:
    return validate(shape, read_json(event))


def _field_error(error: "ErrorDetails", shape: type[WireModel]) -> FieldError:
    kind, context = error["type"], error.get("ctx", {})
    steps = [cut(str(step), MAX_NAME) for step in error["loc"]]
    if kind != "extra_forbidden":
        # An error of a default has the attribute's name.
        steps = list(map(to_camel, steps))
    field = ".".join(steps)
    if kind in _TYPES:
        return FieldError(field, _TYPES[kind], "wrong_type")
    match kind:
        case "missing":
            return FieldError(field, "is required", "required")
        case "extra_forbidden":
            return FieldError(field, _unknown_field(error["loc"], shape), "unknown_field")
        case "string_too_long":
            limit = context["max_length"]
            return FieldError(field, f"must have at most {limit} characters", "too_long")
        case "string_too_short":
            return FieldError(field, "must not be empty", "too_short")
        case "too_short":
            return FieldError(field, "must not be an empty list", "too_short")
        case "greater_than_equal":
            return FieldError(field, f"must be at least {context['ge']}", "out_of_range")
        case "less_than_equal":
            return FieldError(field, f"must be at most {context['le']}", "out_of_range")
    return FieldError(field, error["msg"], kind)


def _unknown_field(path: tuple[int | str, ...], shape: type[WireModel]) -> str:
    from pillarbox.http import hints  # noqa: PLC0415  few requests need it

    *parents, name = path
    shape = model_at(shape, parents)
    known = [field.name for field in fields_of(shape).values()]
    if shape.in_query:
        return hints.unknown_parameter(known)
    return hints.unknown_field(str(name)[:MAX_NAME], shape.__name__, known)
