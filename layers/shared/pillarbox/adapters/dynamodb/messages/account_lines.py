"""The emails of an account that wait for the sending rate, while several accounts compete for it.

Each account has a line of its own, so no account waits at the end of another one's, and one for its
codes, so they do not wait behind its other mail. An email that has to wait long comes back when it
is its turn there. All times are in microseconds since 1970.
"""

from typing import Final

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table

_SECOND: Final = 1_000_000
#: The table deletes an item that was not used for so many seconds.
_KEPT: Final = 24 * 3600
_MAX_KNOWN: Final = 1_000
_TRIES: Final = 3


class AccountLines:
    """The items in the table, with the turns that this process saw last."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._next: dict[str, int] = {}

    def take_turn(self, line: str, cost: int, soonest: int, before: int) -> int | None:
        """Return when an email comes back in a line; None if not before a time.

        The next one comes back later by its cost.
        """
        if max(self._next.get(line, 0), soonest) >= before:
            return None
        values = {":start": soonest, ":by": cost, ":expires_at": soonest // _SECOND + _KEPT}
        goes_on = "next_turn >= :start AND next_turn < :before"
        begins = "attribute_not_exists(next_turn) OR next_turn < :start"
        steps = (
            ("next_turn + :by", goes_on, {**values, ":before": before}),
            (":start + :by", begins, values),
        )
        for _ in range(_TRIES):
            for value, condition, of_step in steps:
                try:
                    item = self._table.update(
                        keys.account_line(line),
                        f"SET next_turn = {value}, expires_at = :expires_at",
                        condition=condition,
                        values=of_step,
                    )
                except ConditionFailed as failure:
                    following: int = (failure.item or {}).get("next_turn", 0)
                    if following >= before:
                        self._keep(line, following)
                        return None
                    continue
                following = item["next_turn"]
                self._keep(line, following)
                return following - cost
        return None

    def _keep(self, line: str, following: int) -> None:
        self._next.pop(line, None)
        self._next[line] = following
        if len(self._next) > _MAX_KNOWN:
            del self._next[next(iter(self._next))]
