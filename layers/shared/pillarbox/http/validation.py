"""Validate JSON with wire models, and turn pydantic's errors into `details.errors[]`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pydantic_core._pydantic_core import ValidationError

from pillarbox.domain.errors import MAX_FAULTS, FieldError, Json, ValidationFailed, cut
from pillarbox.http.requests import read_json
from pillarbox.http.wire import (
    WireModel,
    fields_of,
    model_at,
    to_camel,
)

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
    from pydantic_core import ErrorDetails

#: In bytes, of a name that the client chose: a response must not grow with the request.
MAX_NAME: Final = 64

_TYPES: Final[Mapping[str, str]] = {
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "model_type": "must be an object",
    "string_type": "must be a string",
}


def validate[M: WireModel](shape: type[M], value: Json) -> M:
    """Validate a JSON value against a wire model.

    Raises:
        ValidationFailed: with the first `MAX_FAULTS` errors and the number of the others.
    """
    try:
        valid: M = shape.validator().validate_python(value)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        raise ValidationFailed(
            *(_field_error(item, shape) for item in details[:MAX_FAULTS]),
            unlisted=max(0, len(details) - MAX_FAULTS),
        ) from None
    return valid


def read_body[M: WireModel](event: "APIGatewayProxyEvent", shape: type[M]) -> M:
    """Read the body of a request, which has the shape of a wire model.

    Raises:
        ValidationFailed: it is no JSON, or not of the documented shape.
    """
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
