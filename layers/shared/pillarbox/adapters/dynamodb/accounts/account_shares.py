"""The shares of accounts in the sending rate, while several of them compete for it.

Each account has a share of a half of the rate. The further an account is ahead of its share, the
longer it leaves the tokens to the others. So an account that sends less than a half keeps what it
sends, however much another one has accepted. What no other account wants goes to the one that asks.

A share is one item for each account that competes. `paid_at` is when the tokens that the account
took are paid for, at its half of the rate. `next_turn` is when the
next of its waiting emails is tried again: each account has a line of its own, so no account waits
at the end of another one's. Nothing is read or written here while only one account sends, or while
no email has to wait.

All times are in microseconds since 1970.
"""

from dataclasses import dataclass
from typing import Final, Literal

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table

SECOND: Final = 1_000_000
#: How far an account may be ahead of its share before it leaves tokens to the others: by a time,
#: or by some emails at a low rate, which may have waited while one to many recipients was paid.
_BURST: Final = 2 * SECOND
_BURST_TOKENS: Final = 20
#: Before it leaves more of them. This allows for the time in which no account gets tokens,
#: because an email to many recipients has taken those of a minute.
_CREDIT: Final = 60 * SECOND
#: Nothing is charged beyond this, so that a flood costs few writes and is forgiven in minutes.
_MOST: Final = 2 * _CREDIT
#: The share of an account is the rate divided by this.
_ACCOUNTS: Final = 2
#: The table deletes an item that was not used for so many seconds.
_KEPT: Final = 24 * 3600
_MAX_KNOWN: Final = 1_000
_TRIES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Share:
    """The item of an account as this process saw it last. Its times never move back."""

    paid_at: int = 0
    next_turn: int = 0


class AccountShares:
    """The items in the table, with the last known states of one process."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._known: dict[str, _Share] = {}

    def excess(self, account_id: str, token: int, now: int) -> int:
        """Return how far an account is ahead of its share: 0 within it, 1 ahead, 2 far ahead.

        `token` is the time in which the bucket gets one.
        """
        known = self._known.get(account_id)
        if known is None or known.paid_at <= now + _CREDIT:  # other processes may have charged it
            known = self._read(account_id)
        burst = max(_BURST, _BURST_TOKENS * token * _ACCOUNTS)
        return (known.paid_at > now + burst) + (known.paid_at > now + _CREDIT)

    def charge(self, account_id: str, cost: int, now: int) -> None:
        """Count tokens that an account took, as the time in which the bucket gets them."""
        known = self._known.get(account_id)
        if known is None or known.paid_at <= now + _MOST:
            self._move(account_id, "paid_at", now, cost * _ACCOUNTS)

    def take_turn(self, account_id: str, cost: int, soonest: int, before: int) -> int | None:
        """Return when an email comes back in its account's own line; None if not before a time."""
        share = self._known.get(account_id) or self._read(account_id)
        if max(share.next_turn, soonest) >= before:
            return None
        return self._move(account_id, "next_turn", soonest, cost * _ACCOUNTS) - cost * _ACCOUNTS

    def _read(self, account_id: str) -> _Share:
        return self._keep(account_id, self._table.get(keys.account_share(account_id)) or {})

    def _keep(self, account_id: str, item: dict[str, int]) -> _Share:
        share = _Share(paid_at=item.get("paid_at", 0), next_turn=item.get("next_turn", 0))
        self._known.pop(account_id, None)
        self._known[account_id] = share
        if len(self._known) > _MAX_KNOWN:
            del self._known[next(iter(self._known))]
        return share

    def _move(
        self, account_id: str, name: Literal["paid_at", "next_turn"], start: int, by: int
    ) -> int:
        """Move a time forward, from `start` on if it is earlier; return the new time."""
        expires_at = start // SECOND + _KEPT
        for _ in range(_TRIES):
            for value, condition in (
                (f"{name} + :by", f"{name} >= :start"),
                (":start + :by", f"attribute_not_exists({name}) OR {name} < :start"),
            ):
                try:
                    item = self._table.update(
                        keys.account_share(account_id),
                        f"SET {name} = {value}, expires_at = :expires_at",
                        condition=condition,
                        values={":start": start, ":by": by, ":expires_at": expires_at},
                    )
                except ConditionFailed:
                    continue
                moved: int = item[name]
                self._keep(account_id, item)
                return moved
        return start + by
