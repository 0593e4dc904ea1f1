"""The sending rate that SES allows an account, in recipients a second."""

from typing import Final

#: SES tolerates short bursts above the rate; AWS does not say how long. This is a guess, in
#: seconds of the rate, and at least one recipient.
_BURST: Final = 0.25


class RateLimit:
    """A token bucket with a second of the rate and a small burst.

    An email with more recipients than a second allows needs a second's tokens. The bucket then has
    a debt, and refuses every email until the rate has made up for it.
    """

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self._second = max(rate, 1.0)
        self._size = self._second + max(rate * _BURST, 1.0)
        self._tokens = self._size
        self._filled_at: float | None = None

    def allow(self, recipients: int, now: float) -> bool:
        """Count an email, unless its recipients are too many at this time, in seconds."""
        if self._filled_at is not None:
            gained = max(now - self._filled_at, 0.0) * self.rate
            self._tokens = min(self._tokens + gained, self._size)
        self._filled_at = now
        if self._tokens < min(recipients, self._second) - 1e-6:
            return False
        self._tokens -= recipients
        return True
