"""The sending rate of the SES account: every worker takes its tokens from one bucket.

A worker takes the tokens of all its emails that wait with one write. At a rate of 20 a second or
more it takes some in advance, as many as it used in the last second. What it does not use within a
second is lost to everyone, so that a worker that stops leaves no burst behind.

If the table throttles, the email waits: without its tokens SES would get more than it grants. If
the table cannot be reached at all, the email goes out at once; SES itself is the limit, and an
email that it throttles is tried again.
"""

import random
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from pillarbox.adapters.dynamodb.messages.token_bucket import (
    LONGEST_WAIT,
    SECOND,
    BucketState,
    Changes,
    KnownBucket,
    Refused,
    Shares,
    Tokens,
    lane_of,
)
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.errors import ServiceError, Unavailable

#: How long a worker tries to take the tokens of an email: longer at ten recipients a second and
#: more, where many get theirs meanwhile. Urgent emails wait longer too, because their workers have
#: nothing else to do. If others of their account wait already, one that comes back from its line
#: waits less, and a new one goes to the end of that line, so that no flood keeps all workers.
_PATIENCE: Final = 2 * SECOND
_CODE_PATIENCE: Final = 3 * SECOND
_RETURNED_PATIENCE: Final = 3 * SECOND // 2
_NEW_PATIENCE: Final = SECOND // 4
_FAST: Final = 10.0
_FAST_PATIENCE: Final = 4 * SECOND
#: The longest wait before one of these tries, until a debt is repaid.
_LONGEST_PAUSE: Final = 3 * SECOND
#: A longer wait is for a debt, after an email to many recipients.
_DEBT: Final = 2 * SECOND
#: How often a worker tries to take the tokens of one email.
_TRIES: Final = 20
#: Workers that wait for the same token try again at different times within this time.
_SPREAD: Final = SECOND // 4
_URGENT_SPREAD: Final = SECOND // 20
#: The line in which ordinary emails have their places is so long, and longer at a high rate by
#: 1.5 seconds for each 1,000 recipients a second: so many emails wait in a pool of workers then,
#: and the reserve of urgent emails is large.
_LINE: Final = SECOND // 4
_LINE_OF_A_RECIPIENT: Final = SECOND * 3 // 2_000
#: One write takes the tokens of at most this time.
_GROUP: Final = SECOND // 4
#: How long a worker may use the tokens that it took in advance, and the most that it takes: the
#: tokens of a tenth of a second.
_LEASE: Final = SECOND
_LEASED_PART: Final = 0.1
#: An email leaves the tokens of this time to each lane that goes before it, up to three, or as many
#: as it needs after its first one. It is longer than the tries of urgent emails are apart, and
#: three times it is less than the bucket.
_YIELD: Final = SECOND // 5
_MOST_YIELDS: Final = 3
#: It also leaves some to older ones: those of this time if it is new, and less until this age. They
#: would go in a random order otherwise. Whose account has a line counts as new.
_LEFT_BY_NEW: Final = 3 * SECOND // 20
_OLD: Final = 4 * SECOND
#: How often one try begins again, because another worker changed the bucket.
_ATTEMPTS: Final = 4
#: A worker with so many emails begins at a random time within these seconds.
_BATCH: Final = 5
_START: Final = 0.05
#: A state that is older than this is read again before it refuses an email.
_FRESH: Final = SECOND // 50
#: After so long a time a worker takes the bucket for full, and one token without a read.
_QUIET: Final = 2 * SECOND
_THROTTLES: Final = frozenset(
    {"ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException"}
)


@dataclass(eq=False, slots=True)
class _Waiting:
    """An email of this worker that has no tokens yet."""

    account_id: str
    recipients: int
    urgent: bool
    #: Whether it had to wait before.
    comes_back: bool
    #: When it was queued first.
    since: int
    #: When its thread wakes up and tries again.
    wakes_at: int = 0
    #: Its place in the line.
    departs_at: int | None = None
    #: Whether it waits for its lane, so that no other one of it has to.
    leads: bool = False

    @property
    def lane(self) -> str:
        return lane_of(self.account_id, urgent=self.urgent)


class DynamoSendingRate:
    """Implements `delivery.ports.SendingRate`. Many threads may call it at the same time.

    Args:
        table: the table. It must not retry: a try whose response was lost may have taken tokens.
        read_rate: reads the recipients a second that SES grants; None if SES does not say.
    """

    def __init__(
        self,
        table: Table,
        read_rate: Callable[[], float | None],
        clock: Callable[[], datetime],
        pause: Callable[[float], None],
        lock: AbstractContextManager[object] | None = None,
    ) -> None:
        self._table = table
        self._bucket = KnownBucket(table, read_rate)
        self._read_rate = read_rate
        self._clock = clock
        self._pause = pause
        self._lock = lock or Lock()
        self._waiting: list[_Waiting] = []
        self._spread, self._spread_at = 0.0, 0
        self._leased = 0
        self._lease_size = 1
        self._lease_ends_at = 0

    def acquire(
        self,
        account_id: str,
        recipients: int,
        *,
        urgent: bool,
        comes_back: bool = False,
        since: datetime | None = None,
    ) -> timedelta | None:
        """Take the tokens of one email, or return when to try again."""
        since_at = round((since or self._clock()).timestamp() * SECOND)
        email = _Waiting(account_id, recipients, urgent, comes_back, since_at)
        self._waiting.append(email)
        try:
            return self._acquire(email)
        except ServiceError as error:
            if isinstance(error, Unavailable) and error.aws_error in _THROTTLES:
                return timedelta(seconds=1 + _fraction())
            return None
        except ConditionFailed:  # somebody deleted the item, so the next email creates it
            self._bucket = KnownBucket(self._table, self._read_rate)
            return None
        finally:
            self._waiting.remove(email)

    def give_back(self, recipients: int) -> None:
        """Keep the tokens for this worker's next email, for as long as those taken in advance."""
        with self._lock:
            self._leased += recipients

    def slow_down(self, account_id: str, recipients: int, *, urgent: bool) -> None:
        """Halve the rate of all workers, not counting the tokens. It recovers within seconds."""
        lane = lane_of(account_id, urgent=urgent)
        with self._lock:
            self._leased = 0
            with suppress(ServiceError, Refused, ConditionFailed):
                if state := self._bucket.known_state(self._now()):
                    now = self._now()
                    state = self._bucket.item.slow_down(state, lane, recipients, now)
                    self._bucket.keep(state, now)

    def _acquire(self, email: _Waiting) -> timedelta | None:
        spread = _URGENT_SPREAD if email.urgent else _SPREAD
        wait = patience = 0
        began_at = waits_since = self._now()
        for _ in range(_TRIES):
            with self._lock:
                if email.departs_at is None:
                    wait, patience = self._try(email)
            if email.departs_at is not None:
                self._wait_until(email.departs_at)
                return None
            now = self._now()
            # Others may take the tokens at each try, so the waits have an end: the time of a
            # worker is for several emails, and it must not end between lease and hand-over.
            ends_at = began_at + patience + _LONGEST_PAUSE
            if now > waits_since + patience or wait > _LONGEST_PAUSE or now + wait > ends_at:
                break
            if wait > _DEBT:  # everybody waits for it
                waits_since = now + wait
            email.wakes_at = now + max(wait, 0) + round(spread * self._spread)
            self._wait_until(email.wakes_at)
        with self._lock:
            if email.departs_at is None:
                return self._turn(email)
        self._wait_until(email.departs_at)
        return None

    def _try(self, email: _Waiting) -> tuple[int, int]:
        """Give an email its place in the line; else return its wait, and how long it tries."""
        if self._use_lease(email):
            return 0, 0
        state = self._bucket.known_state(self._now())
        if state is None:
            email.departs_at = 0
            return 0, 0
        state = self._start_apart(state)
        for _ in range(_ATTEMPTS):
            now = self._now()
            age = now - self._bucket.seen_at
            is_quiet = age > _QUIET and email.recipients == 1 and _is_full(state, now)
            if age > _FRESH and not is_quiet:
                state = self._bucket.keep(self._bucket.item.read() or state, now)
            tokens, latest = _needs(email, state, now)
            # `empty_at` never moves back, so an ordinary email needs no write to learn that it
            # has to wait.
            if not tokens.urgent and state.empty_at > latest:
                break
            try:
                self._take(state, email, tokens, latest, now)
            except Refused as refusal:
                state = self._bucket.keep(refusal.state, now)
            else:
                return 0, 0
            if state.empty_at > latest:
                break
        if self._spread_at < now - _FRESH:  # all emails of this worker wake up together
            self._spread, self._spread_at = _fraction(), now
        return state.empty_at - latest, self._patience(email, state, now)

    def _patience(self, email: _Waiting, state: BucketState, now: int) -> int:
        """Return how long an email tries; an urgent one lets its lane wait, if it is the first."""
        is_fast = state.max_rate >= _FAST * 1000
        if not email.urgent:
            return _FAST_PATIENCE if is_fast else _PATIENCE
        shares = _shares(state, now)
        if changes := shares.wait(email.lane):
            try:
                state = self._bucket.item.note(email.lane, now - SECOND, changes)
                email.leads = True
            except Refused as refusal:
                state = refusal.state
            self._bucket.keep(state, now)
        if email.leads and not shares.has_line(email.lane):
            return _CODE_PATIENCE
        if email.comes_back:
            return _RETURNED_PATIENCE
        return _NEW_PATIENCE if is_fast else -1

    def _start_apart(self, state: BucketState) -> BucketState:
        """Wait a moment with a full bucket and a batch.

        Many workers may begin at this moment, and each would try to be the first.
        """
        if len(self._waiting) < _BATCH or not _is_full(state, self._now()):
            return state
        self._pause(_fraction() * _START)
        return self._bucket.keep(self._bucket.item.read() or state, self._now())

    def _take(
        self, state: BucketState, email: _Waiting, wanted: Tokens, latest: int, now: int
    ) -> None:
        """Take the tokens of an email, and of those that wait with it."""
        rate, urgent = wanted.rate, wanted.urgent
        group = [email] if urgent else self._group(email, state, now)
        needed = sum(one.recipients for one in group)
        tokens = Tokens(needed, rate, urgent=urgent)
        # Tokens in advance must be there, or they would delay the emails of others. A worker with
        # a batch takes its tokens together anyway, and a bucket that is not half full has many.
        lease = Tokens(self._next_lease(rate, needed), rate)
        in_advance = (
            len(self._waiting) == 1
            and lease.count > needed
            and state.empty_at <= self._bucket.seen_at - lease.cost - lease.capacity // 2
        )
        if in_advance:
            tokens, latest = lease, now - lease.cost
        charges = _charges(state, group, tokens, now)
        after = self._bucket.keep(
            self._bucket.item.acquire(state, tokens, now, latest, charges), now
        )
        self._lease_ends_at = now + _LEASE
        self._lease_size, self._leased = tokens.count, tokens.count - needed
        start = after.empty_at - tokens.cost
        if _is_full(state, now):  # a full bucket is enough for any email
            start = min(start, now - Tokens(email.recipients, rate).hold)
        for one in group:
            place = Tokens(one.recipients, rate, urgent=urgent)
            one.departs_at = start + place.hold
            if urgent:
                # What it owes then is within the reserve.
                early = after.overdraft - tokens.debt + place.hold <= place.reserve
                one.departs_at = now if early else start + place.hold - place.reserve
            start += place.cost

    def _group(self, email: _Waiting, state: BucketState, now: int) -> list[_Waiting]:
        """Return an email with the others of this worker whose tokens one write takes."""
        rate, shares = state.rate(now), _shares(state, now)
        before = shares.before(email.lane, email.recipients)
        group = [email]
        needed = email.recipients
        for other in list(self._waiting):
            needed += other.recipients
            if Tokens(needed, rate).cost > _GROUP:
                break
            if (
                other is not email
                and other.departs_at is None
                and other.wakes_at <= now + _FRESH
                and other.urgent == email.urgent
                and shares.before(other.lane, other.recipients) <= before
            ):
                group.append(other)
            else:
                needed -= other.recipients
        return group

    def _use_lease(self, email: _Waiting) -> bool:
        now = self._now()
        if self._leased < email.recipients or now >= self._lease_ends_at:
            return False
        self._leased -= email.recipients
        email.departs_at = now
        return True

    def _next_lease(self, rate: float, needed: int) -> int:
        """Return twice what was taken last if it was used up in time, else what was used."""
        used = self._lease_size - self._leased
        size = 2 * self._lease_size if self._now() < self._lease_ends_at else used
        return max(min(size, int(rate * _LEASED_PART)), needed)

    def _turn(self, email: _Waiting) -> timedelta:
        """Return when an email comes back that has to wait longer than its worker does."""
        state, now = self._bucket.state, self._now()
        if state is None:
            return timedelta(seconds=1)
        tokens = Tokens(email.recipients, state.full_rate)
        soonest = max(now + SECOND, min(state.empty_at, now + LONGEST_WAIT))
        joins = _shares(state, now).join(email.lane)
        lane = email.lane if joins else lane_of("", urgent=email.urgent)
        turn = self._bucket.item.take_turn(state, lane, tokens.cost, soonest, joins)
        if turn is None:  # too many wait already
            turn = now + round(LONGEST_WAIT * (2 + _fraction()) / 3)
        return timedelta(microseconds=turn - now)

    def _wait_until(self, moment: int) -> None:
        wait = moment - self._now()
        if wait > 0:
            self._pause(wait / SECOND)

    def _now(self) -> int:
        return round(self._clock().timestamp() * SECOND)


def _needs(email: _Waiting, state: BucketState, now: int) -> tuple[Tokens, int]:
    """Return the tokens that an email needs, and until when the bucket may be empty.

    A code whose account had to let others wait takes those that come like other mail.
    """
    shares, rate = _shares(state, now), state.rate(now)
    before, has_line = shares.before(email.lane, email.recipients), shares.has_line(email.lane)
    urgent = email.urgent and not before and not has_line
    tokens = Tokens(email.recipients, rate, urgent=urgent)
    if urgent:
        return tokens, now + tokens.reserve
    age = 0 if has_line else min(max(now - email.since, 0), _OLD)
    left = _LEFT_BY_NEW - _LEFT_BY_NEW * age // _OLD
    if before:
        left += max(min(before, _MOST_YIELDS) * _YIELD, tokens.cost - tokens.time(1))
    else:
        left -= max(_LINE + round(rate * _LINE_OF_A_RECIPIENT) - tokens.time(1), 0)
    return tokens, now - left


def _is_full(state: BucketState, now: int) -> bool:
    return state.empty_at < now - Tokens(1, state.rate(now)).capacity


def _shares(state: BucketState, now: int) -> Shares:
    return Shares(state.rounds, state.lines, state.present_round, now)


def _charges(state: BucketState, group: list[_Waiting], tokens: Tokens, now: int) -> Changes:
    """Return what changes for the accounts of some emails. The first one pays for the lease."""
    counts: dict[str, int] = {}
    for email in group:
        counts[email.lane] = counts.get(email.lane, 0) + email.recipients
    counts[group[0].lane] += tokens.count - sum(counts.values())
    return _shares(state, now).charge(counts)


def _fraction() -> float:
    return random.random()  # noqa: S311  spreads load only
