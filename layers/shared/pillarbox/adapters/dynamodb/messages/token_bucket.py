"""The token bucket of the SES account, and who goes first while several accounts wait.

The item does not count tokens. It holds `empty_at`, the time at which the bucket is empty: it
gets a token every 1 / rate seconds from then on, until it is full. To take tokens is
to move `empty_at` forward, which needs no read before. A time ahead of now is a debt.

An ordinary email takes its place in the line if the line is short, and departs when its tokens
have come. Only a line that grew meanwhile refuses it. An urgent email departs before those that
wait in the line, if the debt that it leaves is within a reserve, or as soon as it is. `overdraft`
is how far urgent emails and those to many recipients moved `empty_at` ahead of their tokens, until
`repaid_at`. It bounds that debt at each departure.

`rounds` and `lines` say which accounts wait and who goes first (`Shares`). They are in the same
item, so they cost no write of their own.

A partition of the table takes 1,000 writes a second. A write takes the tokens of several emails, so
the item serves more than 1,000 recipients a second.

All times are in microseconds since 1970. Workers compare them with their own clocks. A worker
whose clock is fast makes the others wait for as long as it is fast, and sends no more for it.

While several accounts wait, the tokens go in rounds: in each one every account that waits has one
recipient. The email whose last recipient has the lowest round goes first, so the others send 50
recipients before one email to 50. An account's codes are a lane beside its other mail, which goes
after them. Codes begin some rounds before the other mail of all accounts.

The item of the bucket has two numbers for each lane: the round of its next recipient, and the end
of its line, which is when the last email that had to wait comes back. A lane waits until a moment
after that. One that begins to wait joins the present round, which is that of the last tokens. Only
while a lane waits do the tokens of the others count, and all is forgotten when none does.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from math import ceil
from typing import Any, Final, NamedTuple

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table

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

    In the present round 100 the lane "acme" begins to wait with an email to 50. Its next recipient
    has the round 99, so the last of the 50 has 148. If "shop" begins to wait then, it begins at 99
    too, and each of its recipients moves it by one round. It goes before "acme" until it is at 148,
    after 49 recipients. Codes, as in "shop_u", would begin at 79.

    Args:
        rounds: the round of each lane's next recipient.
        lines: the end of each lane's line, in microseconds since 1970.
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


SECOND: Final = 1_000_000
#: An email that cannot be sent soon comes back at most this much later, because SES may raise
#: its rate meanwhile.
LONGEST_WAIT: Final = 15 * 60 * SECOND
#: A full bucket has the tokens of this part of a second, or of one email. The rest is a margin,
#: because the calls of SES do not arrive as evenly as the tokens come.
_SIZE: Final = 0.9
#: The tokens that only urgent emails may take: those of a part of a second, or of most of one
#: email. With all of one, any jitter would make SES throttle where it grants one email a second.
_RESERVE: Final = 0.2
_LEAST_RESERVE: Final = 0.75
#: The part of the granted rate that is used. A call that arrives late costs SES's own bucket some
#: tokens for ever, if all of the rate is used.
_USED: Final = 0.98
#: The rate after SES throttled: half of it, then more by this part of the full rate a second.
_RECOVERY: Final = 0.1
_LOWEST: Final = 10  # percent

#: Another worker may change the item between the last known state and a write.
_TRIES: Final = 5
_SAME_RATE: Final = "max_rate = :max_rate AND slowed_at = :slowed_at"


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketState:
    """The item as one of its last readers or writers saw it."""

    #: The rate, in thousandths of a recipient a second, and when it was read.
    max_rate: int
    rate_read_at: int
    empty_at: int = 0
    overdraft: int = 0
    repaid_at: int = 0
    #: When SES throttled last, and the percentage to which that lowered the rate.
    slowed_at: int = 0
    slowed_to: int = 100
    #: The round in which tokens are taken, and the numbers of each lane (`token_bucket.py`).
    present_round: int = 0
    rounds: Mapping[str, int] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)

    def share(self, now: int) -> float:
        """Return the part of the granted rate that is used at a time."""
        seconds = max(now - self.slowed_at, 0) / SECOND
        return min(self.slowed_to / 100 + seconds * _RECOVERY, 1.0)

    @property
    def full_rate(self) -> float:
        """The tokens a second while SES does not throttle."""
        return self.max_rate / 1000 * _USED

    def rate(self, now: int) -> float:
        """Return the tokens a second at a time."""
        return self.full_rate * self.share(now)


_NUMBERS: Final = [one.name for one in fields(BucketState) if one.type is int]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one email, as the time in which the bucket gets them at a rate."""

    count: int
    rate: float
    urgent: bool = False

    @property
    def cost(self) -> int:
        """How far they move `empty_at`."""
        return self.time(self.count)

    @property
    def hold(self) -> int:
        """How long an empty bucket takes to get them, at most a second's."""
        return self.time(min(self.count, max(self.rate, 1.0)))

    @property
    def debt(self) -> int:
        """How far the email departs before its tokens have come."""
        return self.cost if self.urgent else self.cost - self.hold

    @property
    def capacity(self) -> int:
        """How long an empty bucket takes to be full."""
        return self.time(max(self.rate, 1.0) * _SIZE)

    @property
    def reserve(self) -> int:
        """The debt that urgent emails may leave."""
        return self.time(max(self.rate * _RESERVE, _LEAST_RESERVE))

    def time(self, count: float) -> int:
        """Return the time for a number of tokens, rounded up."""
        return ceil(count / self.rate * SECOND)


class Refused(Exception):
    """Nothing was taken; `state` is the item."""

    def __init__(self, state: BucketState) -> None:
        super().__init__("the bucket has too few tokens, or it has changed")
        self.state = state


class TokenBucket:
    """The bucket's item in the table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._key = keys.sending_rate()

    def read(self) -> BucketState | None:
        """Read the item, perhaps without the last writes; None if there is none yet."""
        return self._table.find(self._key, _state, consistent=False)

    def create(self, rate: float, now: int) -> BucketState:
        """Create the item with a full bucket, unless another worker was faster."""
        state = BucketState(max_rate=round(rate * 1000), rate_read_at=now)
        values: dict[str, Any] = {name: getattr(state, name) for name in _NUMBERS}
        try:
            return self._update(
                "SET " + ", ".join(f"{name} = :{name}" for name in values),
                "attribute_not_exists(pk)",
                values,
            )
        except Refused as refusal:
            return refusal.state

    def set_rate(self, state: BucketState, rate: float | None, read_at: int) -> BucketState:
        """Store the rate that SES grants, unless another worker did since a state was read.

        None keeps the rate.
        """
        max_rate = round(rate * 1000) if rate else state.max_rate
        return self._update(
            "SET max_rate = :max_rate, rate_read_at = :read_at",
            "rate_read_at = :seen",
            {"read_at": read_at, "seen": state.rate_read_at, "max_rate": max_rate},
        )

    def acquire(
        self,
        state: BucketState,
        tokens: Tokens,
        now: int,
        latest: int,
        shares: Changes,
    ) -> BucketState:
        """Move `empty_at` forward by the cost of some tokens.

        Args:
            latest: the `empty_at` up to which they may be acquired. For urgent tokens an
                `overdraft` within the reserve is enough.
        """
        full = now - tokens.capacity
        values = {"max_rate": state.max_rate, "slowed_at": state.slowed_at, "full": full}
        if state.empty_at < full:  # a full bucket is enough for any email
            after = full + tokens.cost
            return self._update(
                "SET empty_at = :after, overdraft = :overdraft, repaid_at = :after",
                f"empty_at < :full AND {_SAME_RATE}",
                values
                | {"after": after, "overdraft": tokens.cost if tokens.urgent else after - now},
                shares,
            )
        values["cost"] = tokens.cost
        changes, places = "empty_at = empty_at + :cost", "empty_at <= :latest"
        if tokens.debt:
            changes = f"repaid_at = empty_at + :cost, {changes}, overdraft = "
            values["debt"] = tokens.debt
            if state.repaid_at <= now:
                changes += ":debt"
                places = "repaid_at <= :now" if tokens.urgent else f"repaid_at <= :now AND {places}"
                values["now"] = now
            else:
                changes += "overdraft + :debt"
                if tokens.urgent:
                    places = f"({places} OR overdraft <= :reserve)"
                    values["reserve"] = tokens.reserve
        if ":latest" in places:
            values["latest"] = latest
        return self._update(
            f"SET {changes}", f"empty_at >= :full AND {places} AND {_SAME_RATE}", values, shares
        )

    def note(self, lane: str, before: int, joins: Changes) -> BucketState:
        """Note that a lane waits."""
        name = LINE + lane
        condition = f"attribute_not_exists({name}) OR {name} < :before"
        return self._update("SET", condition, {"before": before}, joins)

    def take_turn(
        self, state: BucketState, lane: str, cost: int, soonest: int, joins: Changes
    ) -> int | None:
        """Return when an email that has to wait comes back; None if it gets no turn.

        Each one of a lane gets a turn of its own, which is later than the one before by its cost.
        """
        name, latest = LINE + lane, soonest + LONGEST_WAIT
        for _ in range(_TRIES):
            end = state.lines.get(lane, 0)
            if end > latest:
                return None
            if end < soonest:
                turn = Change(soonest + cost)
                condition = f"attribute_not_exists({name}) OR {name} < :soonest"
            else:
                turn, condition = Change(soonest, cost), f"{name} >= :soonest"
            try:
                state = self._update("SET", condition, {"soonest": soonest}, {**joins, name: turn})
            except Refused as refusal:
                state = refusal.state
            else:
                return state.lines[lane] - cost
        return None

    def slow_down(self, state: BucketState, lane: str, recipients: int, now: int) -> BucketState:
        """Halve the rate, at most once a second for all workers.

        The recipients, whom SES refused, do not count for their lane.
        """
        changes: Changes = {}
        if lane in state.rounds:
            changes[ROUND + lane] = Change(state.rounds[lane], -recipients)
        if state.slowed_at < now - SECOND:
            lowered = max(round(state.share(now) * 50), _LOWEST)
            changes |= {"slowed_at": Change(now), "slowed_to": Change(lowered)}
        if not changes:
            return state
        return self._update("SET", "slowed_at = :seen", {"seen": state.slowed_at}, changes)

    def _update(
        self,
        expression: str,
        condition: str,
        values: dict[str, Any],
        changes: Changes | None = None,
    ) -> BucketState:
        values = {f":{name}": value for name, value in values.items()}
        changes = changes or {}
        sets = [expression.removeprefix("SET ")] if expression != "SET" else []
        for number, (name, change) in enumerate(changes.items()):
            if change is None:
                continue
            value, by = f":value{number}", f":by{number}"
            values[value] = change.value
            if change.by:
                values[by] = change.by
                value = f"if_not_exists({name}, {value}) + {by}"
            sets.append(f"{name} = {value}")
        removed = [name for name, change in changes.items() if change is None]
        expression = "SET " + ", ".join(sets) if sets else ""
        expression += " REMOVE " + ", ".join(removed) if removed else ""
        try:
            item = self._table.update(self._key, expression, condition=condition, values=values)
        except ConditionFailed as failure:
            if failure.item is None:
                raise
            raise Refused(_state(failure.item)) from failure
        return _state(item)


def _state(item: dict[str, Any]) -> BucketState:
    numbers = {name: item[name] for name in _NUMBERS}
    return BucketState(rounds=_lanes(item, ROUND), lines=_lanes(item, LINE), **numbers)


def _lanes(item: dict[str, Any], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): item[name] for name in item if name.startswith(prefix)}


#: SES raises the rate of an account with a good record.
_REFRESH: Final = 3600 * SECOND
#: After this time an unanswered read of the rate is repeated.
_REFRESH_RETRY: Final = 60 * SECOND


class KnownBucket:
    """The bucket's item, with its last known state."""

    def __init__(self, table: Table, read_rate: Callable[[], float | None]) -> None:
        self.item = TokenBucket(table)
        self.state: BucketState | None = None
        self.seen_at = 0
        self._read_rate = read_rate
        self._unknown_until = 0

    def keep(self, state: BucketState, now: int) -> BucketState:
        """Remember a state."""
        self.state, self.seen_at = state, now
        return state

    def known_state(self, now: int) -> BucketState | None:
        """Return the last known state, with a rate that is not too old; None without a rate."""
        if now < self._unknown_until:
            return self.state
        state = self.state or self.item.read()
        if state is None:
            if rate := self._read_rate():
                state = self.item.create(rate, now)
            else:  # SES answers one worker a second, which may have created it meanwhile
                state = self.item.read()
                self._unknown_until = 0 if state else now + _REFRESH_RETRY
        elif now - state.rate_read_at >= _REFRESH:
            state = self._refresh(state, now)
        if state is not None and state is not self.state:
            self.keep(state, now)
        return state

    def _refresh(self, state: BucketState, now: int) -> BucketState:
        """Read the rate again. One worker does it for all."""
        try:
            state = self.item.set_rate(state, None, now - _REFRESH + _REFRESH_RETRY)
            if rate := self._read_rate():
                state = self.item.set_rate(state, rate, now)
        except Refused as refusal:
            return refusal.state
        return state
