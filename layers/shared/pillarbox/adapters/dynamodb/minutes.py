"""Count requests in a minute, in two attributes of an item."""

from contextlib import suppress
from datetime import datetime
from typing import Final

from pillarbox.adapters.dynamodb.attributes import Item
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.timing import milliseconds

_MINUTE: Final = 60_000  # milliseconds
#: Another request may begin a minute between two writes.
_TRIES: Final = 2


def count_in_minute(table: Table, key: Item, name: str, now: datetime, most: int) -> bool:
    """Add one to the count of the minute, or begin the count of a later minute with one.

    Return False, without a change, if the count is `most`.
    """
    minute, count, began = milliseconds(now) // _MINUTE, f"{name}_count", f"{name}_minute"
    for _ in range(_TRIES):
        try:
            # A function whose clock is behind counts in the minute of the others.
            table.update(
                key,
                f"SET {count} = {count} + :one",
                condition=f"{began} >= :minute AND {count} < :most",
                values={":one": 1, ":minute": minute, ":most": most},
            )
        except ConditionFailed as failure:
            if (failure.item or {}).get(began, -1) >= minute:
                return False
        else:
            return True
        # If another request begins the minute now, this one is added to it.
        with suppress(ConditionFailed):
            table.update(
                key,
                f"SET {count} = :one, {began} = :minute",
                condition=f"attribute_not_exists({began}) OR {began} < :minute",
                values={":one": 1, ":minute": minute},
            )
            return True
    return False
