"""Validate JSON with wire models, and turn pydantic's errors into `details.errors[]`."""

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, PydanticCustomError

from pillarbox.domain.errors import FieldError, Json, ValidationFailed

#: A response lists no more errors than this.
_MAX_ERRORS: Final = 100
#: In characters, of a name that the client chose: a response must not grow with the request.
MAX_NAME: Final = 64

_TYPES: Final[Mapping[str, str]] = {
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "model_type": "must be an object",
    "string_type": "must be a string",
}


def validate[M: BaseModel](model: type[M], value: Json) -> M:
    """Validate a JSON value against a wire model.

    Raises:
        ValidationFailed: with all errors.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        raise ValidationFailed(
            *(_field_error(item, model) for item in details[:_MAX_ERRORS])
        ) from None


def invalid(code: str, message: str) -> PydanticCustomError:
    """Return the error that a validator raises, with a stable code."""
    # To pydantic the message is a template: it must not interpret braces in ours.
    return PydanticCustomError(code, "{message}", {"message": message})


def _field_error(error: ErrorDetails, model: type[BaseModel]) -> FieldError:
    kind, context = error["type"], error.get("ctx", {})
    steps = [str(step)[:MAX_NAME] for step in error["loc"]]
    if kind != "extra_forbidden":
        # pydantic reports a missing field by its Python name.
        steps = list(map(to_camel, steps))
    field = ".".join(steps)
    if kind in _TYPES:
        return FieldError(field, _TYPES[kind], "wrong_type")
    match kind:
        case "missing":
            return FieldError(field, "is required", "required")
        case "extra_forbidden":
            return FieldError(field, _unknown_field(error["loc"], model), "unknown_field")
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


def _unknown_field(path: tuple[int | str, ...], model: type[BaseModel]) -> str:
    *parents, name = path
    lower = {field.lower(): field for field in _field_names(model, parents)}
    close = difflib.get_close_matches(str(name)[:MAX_NAME].lower(), lower, n=1)
    return f"is not a field; did you mean {lower[close[0]]}?" if close else "is not a field"


def _field_names(model: type[BaseModel], path: Iterable[int | str]) -> Iterable[str]:
    """Return the field names of a model, or of the model at a path within it."""
    schema = _schema(model)
    fields: dict[str, Any] = schema["properties"]
    for step in path:
        if isinstance(step, str):  # a field that holds a model or a list of models
            reference = re.search(r"#/\$defs/(\w+)", str(fields[step]))
            assert reference is not None  # noqa: S101  only a model can have an unknown field
            fields = schema["$defs"][reference[1]]["properties"]
    return fields


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's schema; cached, because a body may have thousands of unknown fields."""
    return model.model_json_schema()
