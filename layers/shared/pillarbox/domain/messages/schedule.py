"""Emails that wait: for a time that the caller chose, or for somebody who releases them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.timing import to_datetime

#: How far ahead an email may be scheduled.
MIN_AHEAD: Final = timedelta(minutes=1)
MAX_AHEAD: Final = timedelta(days=30)
#: How long a held email waits for its release.
RELEASE_TIME: Final = timedelta(days=7)
#: How long before it is due an email is queued at once: SQS hides a message for 15 minutes. A time
#: that is further ahead waits in the table. That is written within `mail.CHANGE_TIME`, and so
#: before a pass of the timer looks for it.
QUEUED_AHEAD: Final = timedelta(minutes=14)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Since when an email is due, and how long delivery is tried from then on.

    A held one fails at that time, unless it was released.
    """

    due_at: datetime
    life: timedelta
    held: bool = False

    @property
    def deadline(self) -> datetime:
        """Return after which moment the email is useless."""
        return self.due_at + self.life


def whole(moment: datetime) -> datetime:
    """Return a moment in whole milliseconds, as the record has it, and not earlier."""
    return to_datetime(-(-round(moment.timestamp() * 1_000_000) // 1_000))


def check_ahead(due_at: datetime, now: datetime) -> None:
    """Refuse a time that is not far enough ahead, or too far."""
    if not MIN_AHEAD <= due_at - now <= MAX_AHEAD:
        message = "must be at least one minute and at most 30 days ahead"
        raise ValidationFailed(FieldError("scheduledAt", message, "out_of_range"))
