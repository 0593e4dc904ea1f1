"""How one run for a job ended."""

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum


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
    #: Whether the job waits as it should: its sender is paused, or it may be no accepted mail.
    expected: bool = field(default=False, compare=False)
    #: Why the content could not be kept, if so.
    unkept: str | None = None
    #: From acceptance to the provider's response, if the message was sent.
    time_to_send: timedelta | None = field(default=None, compare=False)
    provider_error: str | None = field(default=None, compare=False)
