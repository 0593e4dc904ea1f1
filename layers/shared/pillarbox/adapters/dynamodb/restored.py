"""The mark of rows that an operator put back: they are no news to webhook endpoints.

The mark has the time of the restore, and stays. So a later change of such a row, which has the same
mark before and after it, is announced like any other.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from pillarbox.adapters.dynamodb.table import Item, to_item, to_text

_MARK: Final = "restored"


def marked(item: Item, at: datetime) -> Item:
    """Return an item with the mark of a restore."""
    return item | to_item({_MARK: to_text(at)})


def unmarked(item: Item) -> Item:
    """Return an item without the mark."""
    return {name: value for name, value in item.items() if name != _MARK}


def is_restored(record: Mapping[str, Any]) -> bool:
    """Return whether the change in a record of a table's stream put a row back."""
    images = record["dynamodb"]
    mark = images.get("NewImage", {}).get(_MARK)
    return mark is not None and mark != images.get("OldImage", {}).get(_MARK)
