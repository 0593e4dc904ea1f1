"""The shares of accounts in the sending rate, while several of them compete for it.

The item of the bucket has a time for each account that competes: how far the tokens that it took
reach, if each of n accounts gets every n-th token. So a token moves the time of its account by n
tokens, and all tokens move `empty_at` by one. The account whose time is the lowest is served first,
and those that are ahead of it leave the tokens to the others for a moment. What no other account
wants goes to the one that asks.

An account competes until `empty_at` has passed its time. One that has to wait without competing yet
enters the item two emails before the others.

Urgent emails count for their account, and have a time of their own too. So an account that is ahead
because of its ordinary mail still gets its share for its codes.

All times are in microseconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

#: How far an account may be ahead of another one before it leaves tokens to it: a time, or one
#: email if that takes longer.
_AHEAD: Final = 500_000
#: An account that is so far ahead lets its workers serve others.
_FAR_AHEAD: Final = 20
#: An account that enters is before the others by this, and competes until it is behind by that.
#: Both are in the unit of `_AHEAD`.
_CREDIT: Final = 2
_KEPT: Final = 4
#: Nothing is charged beyond this, so that a flood is forgiven in minutes.
_MOST: Final = 120_000_000
#: The item has at most so many times, so that it costs one write unit. The others are not charged.
_MOST_TIMES: Final = 24
#: A code whose account's codes are ahead of their share by more does not keep its worker.
_KEEPS_WORKER: Final = 2_000_000
#: The time of an account's urgent emails has the account's name and this.
URGENT: Final = "!"
#: The time at which codes of an account had to wait has its name and this.
_WAITING: Final = "?"
_MARKS: Final = (URGENT, _WAITING)


@dataclass(frozen=True, slots=True)
class Charge:
    """A change of the time of an account or of its codes.

    It counts from a start or, if it goes on, from where it is. `by` is None to remove it.
    """

    name: str
    start: int = 0
    by: int | None = None
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Shares:
    """The accounts at one state of the bucket.

    `token` is the time in which the bucket gets one token, and `empty_at` is not in the past by
    more than a full bucket.
    """

    times: Mapping[str, int]
    empty_at: int
    token: int

    @property
    def _unit(self) -> int:
        return max(_AHEAD, self.token)

    @property
    def competing(self) -> dict[str, int]:
        """The accounts that compete, with their times."""
        return {one: time for one, time in self._recent.items() if not one.endswith(_MARKS)}

    @property
    def _recent(self) -> dict[str, int]:
        since = self.empty_at - _KEPT * self._unit
        return {name: time for name, time in self.times.items() if time > since}

    def excess(self, account_id: str, *, urgent: bool) -> int:
        """Return how far the emails of an account are ahead of the other accounts.

        0 is not at all, 1 ahead and 2 far ahead. Ordinary mail is far ahead while its own account
        has codes, or it would leave between them.
        """
        if not urgent and not self._recent.keys().isdisjoint(_of_codes(account_id)):
            return 2
        time = self._time(account_id, urgent=urgent)
        if time is None:
            return 0
        ahead = time - min(self._others(account_id), default=time)
        return (ahead >= self._unit) + (ahead >= _FAR_AHEAD * self._unit)

    def is_behind(self, account_id: str, by: int, *, urgent: bool) -> bool:
        """Return whether emails had less than their share or another account, by a time."""
        time = self._time(account_id, urgent=urgent)
        return time is None or time + by <= max([self.empty_at, *self._others(account_id)])

    def is_far_behind(self, account_id: str, cost: int, *, urgent: bool) -> bool:
        """Return whether they are behind by what an email of this cost takes from their share.

        For more than one recipient it is twice that.
        """
        by = self._unit + 2 * (cost - self.token)
        return self.is_behind(account_id, len(self.competing) * by, urgent=urgent)

    def keeps_worker(self, account_id: str) -> bool:
        """Return whether a code that has to wait keeps its worker.

        It does if its account's codes had less than another account, and not much more than their
        share: floods of codes would keep all workers beside an account that is far ahead. Of
        several equal floods each is behind the one that was served last, by a token's charge.
        """
        time = self._time(account_id, urgent=True)
        if time is None:
            return True
        had_little = time + self._unit <= self.empty_at + _KEEPS_WORKER
        further = max(len(self.competing) - 2, 0)
        lead = self._unit + 2 * further * self.token
        return had_little and self.is_behind(account_id, lead, urgent=True)

    def _others(self, account_id: str) -> list[int]:
        return [time for other, time in self.competing.items() if other != account_id]

    def _time(self, account_id: str, *, urgent: bool) -> int | None:
        """Return how far the tokens of an account reach; None if these emails had none lately."""
        times = self._recent
        of_account = times.get(account_id)
        if not urgent:
            return of_account
        is_full = len(times) >= _MOST_TIMES  # codes have no time of their own then
        return times.get(account_id + URGENT, of_account if is_full else None)

    def enter(self, account_id: str, *, urgent: bool) -> list[Charge]:
        """Return the changes with which an account begins to compete; none if it does already.

        An urgent email notes that its account has codes too.
        """
        entering = {}
        if account_id not in self._recent:
            entering[account_id] = self.empty_at - _CREDIT * self._unit
        if urgent and self._recent.keys().isdisjoint(_of_codes(account_id)):
            entering[account_id + _WAITING] = self.empty_at
        if not entering:
            return []
        charges, room = self._make_room({*entering})
        for name, start in entering.items():
            is_new = name not in self.times  # another worker may have added it
            room -= is_new
            if not is_new or room >= 0:
                charges.append(Charge(name, start, 0, goes_on=is_new))
        return charges

    def charge(self, costs: Mapping[str, int], *, urgent: bool) -> list[Charge]:
        """Return the changes for tokens that accounts take, as the time of each's tokens."""
        recent, competing = self._recent, self.competing
        accounts = len({*competing, *costs})
        names = dict(costs)
        if urgent:
            names |= {account_id + URGENT: cost for account_id, cost in costs.items()}
        charges, room = self._make_room({*names})
        for name, cost in names.items():
            is_new = name not in self.times
            room -= is_new
            time = recent.get(name)
            if (is_new and room < 0) or (time and time > self.empty_at + _MOST):
                continue
            goes_on = is_new or time is not None
            start = min(competing.get(name.removesuffix(URGENT), self.empty_at), self.empty_at)
            charges.append(Charge(name, start, cost * accounts, goes_on=goes_on))
        return charges

    def _make_room(self, names: set[str]) -> tuple[list[Charge], int]:
        """Return what to remove before names are added, and how many may be added then.

        Accounts come before the times of codes.
        """
        recent = self._recent
        new = names - {*self.times}
        gone: list[str] = []
        if new or len(self.times) > _MOST_TIMES:
            gone = [name for name in self.times if name not in recent and name not in names]
        room = _MOST_TIMES - len(self.times) + len(gone)
        missing = max(sum(not name.endswith(_MARKS) for name in new) - room, 0)
        codes = [name for name in recent if name.endswith(_MARKS) and name not in names]
        displaced = codes[:missing]
        return [Charge(name) for name in (*gone, *displaced)], room + len(displaced)


def _of_codes(account_id: str) -> list[str]:
    return [account_id + mark for mark in _MARKS]
