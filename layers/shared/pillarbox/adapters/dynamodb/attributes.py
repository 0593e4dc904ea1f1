"""Encode Python values as DynamoDB's attribute values, and decode them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from pillarbox.adapters.rows import Codec

type AttributeValue = dict[str, Any]
type Item = dict[str, AttributeValue]


def to_attribute(value: object) -> AttributeValue:
    """Encode one value: str, bytes, bool, int, None, list, tuple, dict, or a set of str."""
    match value:
        case str():
            return {"S": value}
        case bytes():
            return {"B": value}
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case None:
            return {"NULL": True}
        case list() | tuple():
            return {"L": [to_attribute(item) for item in value]}
        case set() | frozenset():
            return {"SS": sorted(value)}
        case Mapping():
            return {"M": {name: to_attribute(item) for name, item in value.items()}}
    raise TypeError(f"no attribute value is defined for {type(value).__name__}")


def from_attribute(attribute: Mapping[str, Any]) -> Any:  # noqa: ANN401  any stored value
    """Decode one attribute value."""
    ((data_type, value),) = attribute.items()
    match data_type:
        case "S" | "B" | "BOOL":
            return value
        case "N":
            return int(value)
        case "NULL":
            return None
        case "L":
            return [from_attribute(item) for item in value]
        case "SS":
            return set(value)
        case "M":
            return from_item(value)
    raise TypeError(f"this service writes no attribute of type {data_type}")


def to_item(values: Mapping[str, object]) -> Item:
    """Encode an item without the values that are None: an absent attribute costs nothing."""
    return {name: to_attribute(value) for name, value in values.items() if value is not None}


def from_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """Decode an item."""
    return {name: from_attribute(attribute) for name, attribute in item.items()}


def to_text(moment: datetime) -> str:
    """Write a moment as ISO 8601 in UTC with milliseconds. These texts sort by time."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def from_text(text: str) -> datetime:
    """Read what `to_text` wrote."""
    return datetime.fromisoformat(text)


def to_ttl(moment: datetime) -> int:
    """Write the moment from which DynamoDB may delete an item, in seconds since 1970."""
    return round(moment.timestamp())


TIME: Final = Codec(to_text, from_text)


def assigning(values: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """Return the update that sets attributes, or removes those that are None, and its values."""
    given = {name: value for name, value in values.items() if value is not None}
    terms = {
        "SET": [f"#{name} = :{name}" for name in given],
        "REMOVE": [f"#{name}" for name in values if name not in given],
    }
    expression = " ".join(f"{action} {', '.join(of)}" for action, of in terms.items() if of)
    return expression, {f":{name}": value for name, value in given.items()}
