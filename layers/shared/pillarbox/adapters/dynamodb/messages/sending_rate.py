"""The sending rate of the SES account: every worker takes its tokens from one bucket.

A worker at a rate of 20 a second or more takes several tokens at once, as many as it used in the
last second. What it does not use within a second is lost to everyone, so that a worker that stops
leaves no burst behind.

If the table cannot be reached the email goes out at once. Pacing only avoids that SES throttles;
SES itself is the limit, and an email that it throttles is tried again.
"""

import random
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from pillarbox.adapters.dynamodb.accounts.account_shares import AccountShares
from pillarbox.adapters.dynamodb.messages.token_bucket import (
    LONGEST_WAIT,
    SECOND,
    BucketState,
    Refused,
    TokenBucket,
    Tokens,
)
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.errors import ServiceError

#: SES raises the rate of an account with a good record.
_REFRESH: Final = 3600 * SECOND
#: After this time an unanswered read of the rate is repeated.
_REFRESH_RETRY: Final = 60 * SECOND
#: How long a worker tries to take the tokens of an email. Urgent emails wait longer, because
#: their workers have nothing else to do.
_PATIENCE: Final = 2 * SECOND
_URGENT_PATIENCE: Final = 3 * SECOND
#: The longest wait before one of these tries, until a debt is repaid.
_LONGEST_PAUSE: Final = 3 * SECOND
#: How often a worker tries to take the tokens of one email.
_TRIES: Final = 20
#: Workers that wait for the same token try again at different times within this time.
_SPREAD: Final = SECOND // 4
_URGENT_SPREAD: Final = SECOND // 20
#: How long a worker may use the tokens that it took, and the most that it takes: the tokens of
#: a tenth of a second.
_LEASE: Final = SECOND
_LEASED_PART: Final = 0.1
#: While accounts compete, one that is ahead of its share leaves the tokens of this time to the
#: others, and twice as many if it is far ahead. It is longer than the tries of the others are
#: apart, and twice it is less than the bucket.
_YIELD: Final = round(0.3 * SECOND)
#: How long accounts compete after one of them had to wait for another one.
_SHARED: Final = 60 * SECOND
#: An account that is so far ahead lets its workers serve others (`AccountShares.excess`).
_FAR: Final = 2


class DynamoSendingRate:
    """Implements `delivery.ports.SendingRate`.

    Args:
        table: the table. It must not retry: a try whose response was lost may have taken tokens.
        read_rate: reads the recipients a second that SES grants; None if SES does not say.
        clock: returns the time.
        pause: waits for a number of seconds.
    """

    def __init__(
        self,
        table: Table,
        read_rate: Callable[[], float | None],
        clock: Callable[[], datetime],
        pause: Callable[[float], None],
    ) -> None:
        self._bucket = TokenBucket(table)
        self._shares = AccountShares(table)
        self._read_rate = read_rate
        self._clock = clock
        self._pause = pause
        self._state: BucketState | None = None
        self._unknown_until = 0
        self._had_to_wait = False
        self._leased = 0
        self._lease_size = 1
        self._lease_ends_at = 0

    def acquire(self, account_id: str, recipients: int, *, urgent: bool) -> timedelta | None:
        """Take the tokens of one email, or return when to try again."""
        if self._use_lease(recipients):
            return None
        try:
            return self._acquire(account_id, recipients, urgent=urgent)
        except ServiceError:
            return None
        except ConditionFailed:  # somebody deleted the item, so the next email creates it
            self._state = None
            return None

    def slow_down(self) -> None:
        """Halve the rate of all workers. It recovers within seconds."""
        self._leased = 0
        with suppress(ServiceError, Refused, ConditionFailed):
            if state := self._known_state():
                self._state = self._bucket.slow_down(state, self._now())

    def _acquire(self, account_id: str, recipients: int, *, urgent: bool) -> timedelta | None:
        state = self._known_state()
        if state is None:
            return None
        patience, spread = (_URGENT_PATIENCE, _URGENT_SPREAD) if urgent else (_PATIENCE, _SPREAD)
        gives_up_at = self._now() + patience
        ends_at = gives_up_at + _LONGEST_PAUSE
        state = self._fresh(state)
        for _ in range(_TRIES):
            now = self._now()
            state, excess = self._compete(state, account_id, now, urgent=urgent)
            tokens = Tokens(recipients, state.rate(now), urgent=urgent and not excess)
            latest = now + tokens.reserve if tokens.urgent else now - (excess or 0) * _YIELD
            if excess and (urgent or excess == _FAR):  # its worker has others to serve
                gives_up_at = min(gives_up_at, now - urgent)
            # `empty_at` never moves back, so an ordinary email needs no write to learn that it
            # has to wait.
            if tokens.urgent or state.empty_at <= latest:
                try:
                    departs_at = self._take(state, tokens, now, latest, account_id)
                except Refused as refusal:
                    self._state = state = refusal.state
                else:
                    self._charge(account_id, tokens, now, excess)
                    self._wait_until(departs_at)
                    return None
            wait = state.empty_at - latest
            # Others may take the tokens at each try, so the waits have an end: the time of a
            # worker is for several emails, and it must not end between lease and hand-over.
            if now > gives_up_at or wait > _LONGEST_PAUSE or now + wait > ends_at:
                break
            if wait > SECOND:  # a debt, for which everybody waits
                gives_up_at = now + wait + patience
            if wait > 0:
                self._had_to_wait = True
                self._wait_until(now + wait + round(spread * _fraction()))
                # Others waited too. A read costs less than a refused write.
                self._state = state = self._bucket.read() or state
        return self._turn(state, tokens, now, account_id, excess)

    def _fresh(self, state: BucketState) -> BucketState:
        """Return the state, read again if the last email had to wait."""
        if self._had_to_wait:
            state = self._bucket.read() or state
        self._had_to_wait = False
        return state

    def _compete(
        self, state: BucketState, account_id: str, now: int, *, urgent: bool
    ) -> tuple[BucketState, int | None]:
        """Return how far an account is ahead of its share; None if no accounts compete.

        This costs nothing if only one account sends, or if the email need not wait. Urgent emails
        always compete: those of one account must not hold every urgent worker.
        """
        if now >= state.shared_until:
            if state.empty_at <= now:
                return state, None
            if state.taker not in {"", account_id}:
                self._state = state = self._bucket.start_sharing(now + _SHARED)
            elif not urgent:
                return state, None
        return state, self._shares.excess(account_id, Tokens(1, state.rate(now)).cost, now)

    def _charge(self, account_id: str, tokens: Tokens, now: int, excess: int | None) -> None:
        if excess is not None:
            self._shares.charge(account_id, tokens.time(self._lease_size), now)

    def _take(self, state: BucketState, tokens: Tokens, now: int, latest: int, taker: str) -> int:
        """Take the tokens of an email, or of a lease with it, and return when it departs.

        Raises:
            Refused: there are too few tokens, or the rate changed.
        """
        lease = Tokens(self._next_lease(tokens.rate), tokens.rate)
        if tokens.urgent:
            all_there = now - lease.cost
            wants_lease = lease.count > tokens.count and state.empty_at <= all_there
            taken = lease if wants_lease else tokens
            latest = all_there if wants_lease else latest
        else:
            taken = lease if lease.count > tokens.count else tokens
        self._state = self._bucket.acquire(state, taken, now, latest, taker)
        departs_at = _departure(self._state, taken)
        self._lease_size, self._leased = taken.count, taken.count - tokens.count
        self._lease_ends_at = max(departs_at, now) + _LEASE
        return departs_at

    def _use_lease(self, recipients: int) -> bool:
        if self._leased < recipients or self._now() >= self._lease_ends_at:
            return False
        self._leased -= recipients
        return True

    def _next_lease(self, rate: float) -> int:
        """Return twice what the last lease had if it was used up in time, else what was used."""
        used = self._lease_size - self._leased
        size = 2 * self._lease_size if self._now() < self._lease_ends_at else used
        return max(min(size, int(rate * _LEASED_PART)), 1)

    def _turn(
        self,
        state: BucketState,
        tokens: Tokens,
        now: int,
        account_id: str,
        excess: int | None,
    ) -> timedelta:
        soonest = max(now + SECOND, min(state.empty_at, now + LONGEST_WAIT))
        if excess == 0:
            return timedelta(microseconds=soonest - now + round(SECOND * _fraction()))
        turn = None
        if excess:
            turn = self._shares.take_turn(account_id, tokens.cost, soonest, state.next_ordinary)
        if turn is None:
            turn = self._bucket.take_turn(state, tokens, now)
        if turn is None:  # too many wait already
            turn = now + round(LONGEST_WAIT * (2 + _fraction()) / 3)
        return timedelta(microseconds=turn - now)

    def _known_state(self) -> BucketState | None:
        """Return the last known state, with a rate that is not too old; None without a rate."""
        now = self._now()
        if now < self._unknown_until:
            return self._state
        state = self._state or self._bucket.read()
        if state is None:
            if rate := self._read_rate():
                state = self._bucket.create(round(rate * 1000), now)
            else:
                self._unknown_until = now + _REFRESH_RETRY
        elif now - state.rate_read_at >= _REFRESH:
            state = self._refresh(state, now)
        self._state = state
        return state

    def _refresh(self, state: BucketState, now: int) -> BucketState:
        """Read the rate again. One worker does it for all."""
        try:
            retry_at = now - _REFRESH + _REFRESH_RETRY
            state = self._bucket.set_rate(state, state.max_rate, retry_at)
            if rate := self._read_rate():
                state = self._bucket.set_rate(state, round(rate * 1000), now)
        except Refused as refusal:
            return refusal.state
        return state

    def _wait_until(self, moment: int) -> None:
        wait = moment - self._now()
        if wait > 0:
            self._pause(wait / SECOND)

    def _now(self) -> int:
        return round(self._clock().timestamp() * SECOND)


def _departure(after: BucketState, tokens: Tokens) -> int:
    """Return when an email departs, from the state after it took its tokens."""
    if not tokens.urgent:
        return after.empty_at - after.overdraft
    if after.overdraft - tokens.cost + tokens.hold <= tokens.reserve:
        return 0
    return after.empty_at - tokens.cost + tokens.hold - tokens.reserve


def _fraction() -> float:
    return random.random()  # noqa: S311  spreads load only
