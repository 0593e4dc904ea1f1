"""Count requests in a minute, in two attributes of an item."""

from contextlib import suppress
from datetime import datetime
from typing import Final

from pillarbox.adapters.dynamodb.table import ConditionFailed, Item, Table
from pillarbox.domain.timing import milliseconds

_MINUTE: Final = 60_000  # milliseconds
#: Another request may begin a minute between two writes.
_TRIES: Final = 2


def count_in_minute(  # noqa: PLR0913  what is counted, and by how much
    table: Table, key: Item, name: str, now: datetime, most: int, *, times: int = 1
) -> bool:
    """Add to the count of the minute, or begin the count of a later minute.

    Return False, without a change, if the count would be over `most`.
    """
    minute, count, began = milliseconds(now) // _MINUTE, f"{name}_count", f"{name}_minute"
    for _ in range(_TRIES):
        try:
            # A function whose clock is behind counts in the minute of the others.
            table.update(
                key,
                f"SET {count} = {count} + :times",
                condition=f"{began} >= :minute AND {count} <= :room",
                values={":times": times, ":minute": minute, ":room": most - times},
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
                f"SET {count} = :times, {began} = :minute",
                condition=f"attribute_not_exists({began}) OR {began} < :minute",
                values={":times": times, ":minute": minute},
            )
            return True
    return False
