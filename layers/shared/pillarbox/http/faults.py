"""From pydantic's errors to `details.errors[]`."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from pillarbox.domain.errors import FieldFault, Json, ValidationFailed

#: More than this many faults help nobody.
_MOST: Final = 100

_TYPES: Final[Mapping[str, str]] = {
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "model_type": "must be an object",
    "string_type": "must be a string",
}


def validate[M: BaseModel](model: type[M], value: Json) -> M:
    """Hold a JSON value against a wire model.

    Raises:
        ValidationFailed: with every fault.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        known = _field_names(model)
        raise ValidationFailed(*(_fault(item, known) for item in details[:_MOST])) from None


def invalid(code: str, message: str) -> PydanticCustomError:
    """A fault that a validator of ours finds: a stable code and plain words."""
    # The message is a template to pydantic: braces in it must not be read as one.
    return PydanticCustomError(code, "{message}", {"message": message})


def _fault(error: ErrorDetails, known: Iterable[str]) -> FieldFault:
    field = ".".join(map(str, error["loc"]))
    kind, context = error["type"], error.get("ctx", {})
    if kind in _TYPES:
        return FieldFault(field, _TYPES[kind], "wrong_type")
    match kind:
        case "missing":
            return FieldFault(field, "is required", "required")
        case "extra_forbidden":
            return FieldFault(field, _unknown(str(error["loc"][-1]), known), "unknown_field")
        case "string_too_long":
            most = context["max_length"]
            return FieldFault(field, f"must have at most {most} characters", "too_long")
        case "string_too_short":
            return FieldFault(field, "must not be empty", "too_short")
        case "too_short":
            return FieldFault(field, "must not be an empty list", "too_short")
    return FieldFault(field, error["msg"], kind)


def _unknown(name: str, known: Iterable[str]) -> str:
    lower = {field.lower(): field for field in known}
    close = difflib.get_close_matches(name.lower(), lower, n=1)
    return f"is not a field; did you mean {lower[close[0]]}?" if close else "is not a field"


def _field_names(model: type[BaseModel]) -> set[str]:
    """The names of a model's fields and of those of the models within it."""
    names: set[str] = set()
    schema: dict[str, Any] = model.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        names |= set(part.get("properties", {}))
    return names
