"""The bucket of the sending rate as one worker knows it, and the rate that SES grants."""

from collections.abc import Callable
from typing import Final

from pillarbox.adapters.dynamodb.messages.token_bucket import (
    SECOND,
    BucketState,
    Refused,
    TokenBucket,
)
from pillarbox.adapters.dynamodb.table import Table

#: SES raises the rate of an account with a good record.
_REFRESH: Final = 3600 * SECOND
#: After this time an unanswered read of the rate is repeated.
_REFRESH_RETRY: Final = 60 * SECOND


class KnownBucket:
    """The bucket's item, with its last known state.

    Args:
        table: the table.
        read_rate: reads the recipients a second that SES grants; None if SES does not say.
    """

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
