"""How long a job that could not be finished waits."""

import random
from datetime import timedelta
from typing import Final

FIRST_WAIT: Final = timedelta(seconds=2)
FIRST_BACKOFF: Final = timedelta(seconds=15)
_LONGEST_BACKOFF: Final = timedelta(minutes=15)
#: The queue's visibility timeout: how long a worker that died keeps its jobs. A job that always
#: fails may be received 1,000 times in 25 hours.
VISIBILITY: Final = timedelta(seconds=90)


def backoff(attempt: int, at_most: timedelta, first: timedelta = FIRST_BACKOFF) -> timedelta:
    """Return the wait after an attempt: it doubles up to 15 minutes, half of it random."""
    ceiling = min(first * 2 ** min(attempt - 1, 10), _LONGEST_BACKOFF)
    wait: timedelta = ceiling / 2 + ceiling / 2 * random.random()  # noqa: S311  spreads load only
    return max(min(wait, at_most), timedelta(seconds=1))


def retry_wait(receives: int) -> timedelta:
    """Return the wait after a run that failed: seconds at first, doubling with each receipt."""
    return backoff(receives, VISIBILITY, FIRST_WAIT)
