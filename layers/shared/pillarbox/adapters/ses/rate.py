"""The limit of the sending rate that SES grants the account, enforced in each worker.

SES counts recipients per second over the whole account. Workers do not know of each other,
so each takes an equal share: the account's rate divided by the largest number of workers. A
worker saves what it does not use, up to one second at the whole rate, so a burst that meets
idle workers is sent at once. If several bursts meet, SES throttles and the queue delivers the
jobs again. The limiter avoids that detour; nothing depends on it.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

#: The rate is read this often: SES raises it for an account with a good record.
_REFRESH_INTERVAL: Final = timedelta(hours=1)
#: The longest wait of a worker in seconds. For a longer wait the job goes back to the queue.
_MAX_PAUSE: Final = 2.0


class SendRateLimiter:
    """A token bucket with one token for each recipient.

    Args:
        workers: the largest number of workers that share the rate.
        clock: returns the current time.
        pause: waits for a number of seconds.
        read_rate: reads the account's recipients per second; None is unknown and no limit.
    """

    def __init__(
        self,
        workers: int,
        clock: Callable[[], datetime],
        pause: Callable[[float], None],
        read_rate: Callable[[], float | None],
    ) -> None:
        self._read_rate = read_rate
        self._workers = workers
        self._clock = clock
        self._pause = pause
        self._rate_read_at: datetime | None = None
        self._rate: float | None = None
        self._tokens = 0.0
        self._refilled_at = clock()

    def slow_down(self) -> None:
        """Spend the saved tokens."""
        self._tokens = min(self._tokens, 0.0)

    def acquire(self, recipients: int, *, urgent: bool) -> timedelta | None:
        """Wait until an email may be sent; return the wait if that takes too long.

        An email with more recipients than the bucket holds is sent when the bucket is full.
        Later emails wait until the bucket has made up for it.

        Args:
            recipients: the number of recipients of the email.
            urgent: not used.
        """
        del urgent
        rate = self._current_rate()
        if rate is None:
            return None
        share = rate / self._workers
        now = self._clock()
        self._tokens = min(rate, self._tokens + share * (now - self._refilled_at).total_seconds())
        self._refilled_at = now
        wait = max(min(recipients, rate) - self._tokens, 0.0) / share
        if wait > _MAX_PAUSE:
            return timedelta(seconds=wait)
        self._tokens -= recipients
        if wait:
            self._pause(wait)
        return None

    def _current_rate(self) -> float | None:
        now = self._clock()
        if self._rate_read_at is None or now - self._rate_read_at >= _REFRESH_INTERVAL:
            self._rate = self._read_rate()
            if self._rate_read_at is None:
                self._tokens = self._rate or 0.0
            self._rate_read_at = now
        return self._rate
