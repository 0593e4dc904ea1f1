"""Read the properties of a custom resource, and write the attributes of a domain.

CloudFormation makes texts of numbers and switches.
"""

import re
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


def keep_days(properties: Properties) -> dict[str, int]:
    """Return for at most how many days to keep content; without the property they stay.

    Raises:
        ValidationFailed: it is no whole number.
    """
    if "KeepDays" not in properties:
        return {}
    value = str(properties["KeepDays"])
    if not re.fullmatch("[0-9]{1,99}", value):
        raise ValidationFailed(FieldError("KeepDays", "must be a whole number", "invalid"))
    return {"keepDays": int(value)}


def records_of(domain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the DNS records as attributes: OwnershipName, Dkim1Value, MailFromSpfName, …."""
    attributes: dict[str, Any] = {
        "Name": domain["domain"],
        "Status": domain["status"],
        "MailFrom": domain["mailFrom"],
    }
    keys = 0
    for record in domain["records"]:
        name = record["purpose"].title().replace(" ", "")
        if record["purpose"] == "DKIM":
            keys += 1
            name += str(keys)
        attributes |= {f"{name}Name": record["host"], f"{name}Value": record["value"]}
    return attributes
