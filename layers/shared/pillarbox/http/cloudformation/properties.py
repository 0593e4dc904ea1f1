"""Read the properties of a custom resource. CloudFormation makes texts of numbers and switches."""

from collections.abc import Mapping
from typing import Any, Final

from pillarbox.domain.errors import FieldError, ValidationFailed

#: What CloudFormation itself reads.
_OF_CLOUDFORMATION: Final = frozenset({"ServiceToken", "ServiceTimeout"})
_FLAGS: Final = {"true": True, "false": False}

type Properties = Mapping[str, Any]


def checked(
    properties: Properties, required: tuple[str, ...], optional: tuple[str, ...]
) -> Properties:
    """Return the properties of a resource without those of CloudFormation.

    Raises:
        ValidationFailed: one is missing or unknown; each is named.
    """
    given = {name: value for name, value in properties.items() if name not in _OF_CLOUDFORMATION}
    errors = [FieldError(name, "is missing", "required") for name in required if name not in given]
    errors += [
        FieldError(name, "is not a property of this type", "unknown_field")
        for name in given
        if name not in (*required, *optional)
    ]
    if errors:
        raise ValidationFailed(*errors)
    return given


def is_set(properties: Properties, name: str) -> bool:
    """Return whether a switch is on; without the property it is off.

    Raises:
        ValidationFailed: it is neither true nor false.
    """
    value = str(properties.get(name, "false")).lower()
    if value not in _FLAGS:
        raise ValidationFailed(FieldError(name, "must be true or false", "invalid"))
    return _FLAGS[value]
