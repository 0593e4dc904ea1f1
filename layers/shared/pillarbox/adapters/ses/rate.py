"""The sending rate that SES grants the account, kept by each worker for its share of it.

SES counts recipients a second over the whole account. Workers do not know of each
other, so each paces itself at the account's rate divided by how many run at most;
what it leaves unused is saved for one second of the whole rate, so that a burst that
meets idle workers goes out at once. Should bursts meet, SES throttles, and the queue
brings the mail again: the pace saves that trouble, it is not what keeps the promise.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

#: How long a rate that was asked of SES holds; SES raises it as an account proves itself.
_HOLDS: Final = timedelta(hours=1)
#: A worker waits so long for its share; beyond it, the queue does. In seconds.
_LONGEST_PAUSE: Final = 2.0


class SendRateLimiter:
    """A bucket of recipients, which fills with time.

    Args:
        workers: how many share the rate at most.
        clock: tells the time.
        pause: waits so many seconds.
    """

    def __init__(
        self, workers: int, clock: Callable[[], datetime], pause: Callable[[float], None]
    ) -> None:
        self._workers = workers
        self._clock = clock
        self._pause = pause
        self._asked: datetime | None = None
        self._rate: float | None = None
        self._left = 0.0
        self._filled = clock()

    def acquire(self, recipients: int, ask: Callable[[], float | None]) -> bool:
        """Wait until a mail may go out; False, having waited for nothing, if that takes long.

        A mail of more recipients than the bucket holds goes out when it is full,
        and those after it wait for what it took too much.

        Args:
            recipients: of the mail.
            ask: asks for the account's recipients a second; None: not known, no limit.
        """
        rate = self._current(ask)
        if rate is None:
            return True
        share = rate / self._workers
        now = self._clock()
        self._left = min(rate, self._left + share * (now - self._filled).total_seconds())
        self._filled = now
        wait = max(min(recipients, rate) - self._left, 0.0) / share
        if wait > _LONGEST_PAUSE:
            return False
        self._left -= recipients
        if wait:
            self._pause(wait)
        return True

    def _current(self, ask: Callable[[], float | None]) -> float | None:
        now = self._clock()
        if self._asked is None or now - self._asked >= _HOLDS:
            self._rate = ask()
            if self._asked is None:
                self._left = self._rate or 0.0
            self._asked = now
        return self._rate
