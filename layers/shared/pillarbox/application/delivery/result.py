"""How one run for a job ended, and how long a job waits that could not be finished."""

import random
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    """How one run for a job ended."""

    SENT = "sent"
    FAILED = "failed"
    #: Another worker finished the job, or it is not accepted mail.
    DROPPED = "dropped"
    #: The job had only the result of an earlier run, which is saved now.
    RECORDED = "recorded"
    THROTTLED = "throttled"
    UNCERTAIN = "uncertain"
    WAITING = "waiting"
    #: The sender is paused.
    HELD = "held"
    BUILD_DIED = "build_died"
    #: No worker can read the job or survive it; it is in the dead-letter queue.
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """How one run ended, after which time to receive the job again (None: never), and why then."""

    outcome: Outcome
    retry_after: timedelta | None = None
    #: No event showed the last hand-over, so the message was made ready for another one.
    resent: bool = False
    #: Whether the job waits as it should: it may be no accepted mail.
    expected: bool = field(default=False, compare=False)
    #: Why the content could not be kept, if so.
    unkept: str | None = None
    #: From acceptance to the provider's response, if the message was sent.
    time_to_send: timedelta | None = field(default=None, compare=False)
    provider_error: str | None = field(default=None, compare=False)


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
