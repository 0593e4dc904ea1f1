"""Which changes of the table's stream invoke a function, by the filters of the template."""

import json
from typing import Any

from moto.events.models import EventPattern

from local import template
from pillarbox.adapters.dynamodb.table import Item

_RESOURCES = template.load()["Resources"]


def patterns(function: str) -> list[str]:
    changes = _RESOURCES[function]["Properties"]["Events"]["Changes"]["Properties"]
    return [each["Pattern"] for each in changes["FilterCriteria"]["Filters"]]


def change(image: Item, event: str = "MODIFY") -> dict[str, Any]:
    images = {} if event == "REMOVE" else {"NewImage": image}
    keys = {name: image[name] for name in ("pk", "sk")}
    return {"eventName": event, "dynamodb": {"Keys": keys} | images}


def matches(pattern: str, record: Any) -> bool:
    """Compare as EventBridge does, whose patterns Lambda takes."""
    return bool(EventPattern(pattern, json.loads(pattern)).matches_event(record))


def invokes(function: str, record: Any) -> bool:
    """Return whether a record passes the filters."""
    return any(matches(pattern, record) for pattern in patterns(function))
