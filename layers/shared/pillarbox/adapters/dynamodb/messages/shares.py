"""Who goes first while several accounts wait for the sending rate.

The tokens go in rounds: in each one every account that waits has one recipient. The email whose
last recipient has the lowest round goes first, so the others send 50 recipients before one email to
50. An account's codes are a lane beside its other mail, which goes after them. Codes begin some
rounds before the other mail of all accounts.

The item of the bucket has two numbers for each lane: the round of its next recipient, and the end
of its line, which is when the last email that had to wait comes back. A lane waits until a moment
after that. One that begins to wait joins the present round, which is that of the last tokens. Only
while a lane waits do the tokens of the others count, and all is forgotten when none does.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

#: Codes begin so many rounds before the others.
_EARLIER: Final = 20
#: A lane waits for so long after the end of its line, in microseconds.
_GRACE: Final = 3_000_000
#: An email in a worker renews the end after this time.
_RENEWED: Final = 1_000_000
#: The item has at most so many lanes, so that it costs one write unit. The others do not count.
_MOST_LANES: Final = 16
#: The lane of an account's codes has the account's id and this as its name.
_CODES: Final = "_u"
#: The lines of email for whose lane there is no room, for which no other lane waits.
_COMMON: Final = frozenset({"", _CODES})
#: The two attributes of a lane have its name after these.
ROUND: Final = "share_"
LINE: Final = "line_"
#: The attribute of the present round.
PRESENT: Final = "present_round"


class Change(NamedTuple):
    """A change of a number in the item: to a value, or by something from where it is.

    If it is not there yet, it counts from the value.
    """

    value: int
    by: int = 0


#: The changes of the item's attributes; None removes one.
type Changes = dict[str, Change | None]


def lane_of(account_id: str, *, urgent: bool) -> str:
    """Return the lane of an account's email."""
    return account_id + _CODES if urgent else account_id


class Shares:
    """The lanes at one state of the bucket.

    Args:
        rounds: the round of each lane's next recipient.
        lines: the end of each lane's line, in microseconds since 1970.
        present: the present round.
        now: the time.
    """

    def __init__(
        self, rounds: Mapping[str, int], lines: Mapping[str, int], present: int, now: int
    ) -> None:
        self._rounds, self._lines, self._present, self._now = rounds, lines, present, now
        self._waiting = {lane for lane, end in lines.items() if end + _GRACE > now}

    def before(self, lane: str, recipients: int) -> int:
        """Return how many other lanes go before an email."""
        last, codes = self._next(lane) + recipients, lane + _CODES
        return sum(
            other == codes or (self._next(other) + 1 < last and lane != other + _CODES)
            for other in self._waiting - {lane, *_COMMON}
        )

    def has_line(self, lane: str) -> bool:
        """Return whether emails of a lane are to come back."""
        return self._lines.get(lane, 0) > self._now

    def wait(self, lane: str) -> Changes:
        """Return the changes with which a lane waits for a moment; none if it does already."""
        if self._lines.get(lane, 0) + _RENEWED >= self._now:
            return {}
        joins = self.join(lane)
        return {LINE + lane: Change(self._now), **joins} if joins else {}

    def join(self, lane: str) -> Changes:
        """Return the changes with which a lane has a round; none if there is no room for it."""
        room, changes = self._make_room({lane})
        return {**changes, ROUND + lane: Change(self._next(lane))} if room >= 0 else {}

    def charge(self, recipients: Mapping[str, int]) -> Changes:
        """Return the changes for recipients of some lanes that get tokens."""
        changes: Changes = {
            LINE + lane: None
            for lane in recipients
            if self._lines.get(lane, self._now) + _RENEWED < self._now
        }
        if not self._waiting or len(self._waiting | recipients.keys()) == 1:
            return changes | {ROUND + lane: None for lane in self._rounds}
        room, gone = self._make_room(recipients)
        changes |= gone
        for lane, count in recipients.items():
            begins, known = self._next(lane), self._rounds.get(lane)
            if room >= 0 or known is not None:
                goes_on = known is None or known == begins
                changes[ROUND + lane] = Change(begins, count) if goes_on else Change(begins + count)
        present = max(self._present, *map(self._next, recipients))
        return changes | ({PRESENT: Change(present)} if present > self._present else {})

    def _next(self, lane: str) -> int:
        """Return the round of the next recipient of a lane.

        One that begins to wait goes before those of its kind that wait, and codes that do go before
        all mail, however long that waited.
        """
        known = [self._rounds[one] for one in (lane, lane + _CODES) if one in self._rounds]
        if lane not in self._waiting:
            known.append(self._joins(lane))
        elif known and not lane.endswith(_CODES):
            known.append(self._first(lane + _CODES) + 1)
        return max(known, default=self._first(lane))

    def _first(self, lane: str) -> int:
        return self._present - (_EARLIER if lane.endswith(_CODES) else 0)

    def _joins(self, lane: str) -> int:
        first = self._first(lane)
        if lane.endswith(_CODES):
            codes = [self._rounds.get(one, first) for one in self._waiting if one.endswith(_CODES)]
            first = max(first, min(codes, default=first))
        return first - 1

    def _make_room(self, lanes: Iterable[str]) -> tuple[int, Changes]:
        """Return how many more lanes there may be with some, and what to remove for them."""
        known = {*self._rounds, *self._lines}
        gone = {
            lane
            for lane in known - self._waiting - {*lanes}
            if lane not in self._rounds or self._rounds[lane] <= self._joins(lane)
        }
        changes: Changes = {prefix + lane: None for lane in gone for prefix in (ROUND, LINE)}
        return _MOST_LANES - len((known - gone).union(lanes)), changes
