"""The service's own email to people who have not agreed to get any, and when it pauses.

Such people are newcomers who ask for a code, those whom a member invites, and visitors who ask for
a preview key. A stranger chooses these addresses, so many may not exist.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final

from pillarbox.domain.wilson import exceeds

#: SES reviews an AWS account from this share of permanent bounces on.
MOST_BOUNCED: Final = 0.05
#: Bounces of a day count until the end of the next one, in UTC.
DAYS: Final = 2
#: The tag of these messages, and its value.
STRANGER_TAG: Final = {"audience": "strangers"}
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class StrangerDay:
    """How many such emails were sent on a day in UTC, and how many of them bounced for good."""

    day: date
    sent: int
    bounced: int


def first_day(now: datetime) -> date:
    """Return the oldest day that counts."""
    return now.date() - (DAYS - 1) * _DAY


def paused_until(days: Sequence[StrangerDay], now: datetime) -> datetime | None:
    """Return until when no such email is sent, if too many of the last days bounced; else None.

    Meanwhile none is sent, so the share falls only when a day no longer counts.
    """
    end: datetime | None = None
    for later in range(DAYS):
        first = first_day(now + later * _DAY)
        counted = [one for one in days if one.day >= first]
        bounced, sent = sum(one.bounced for one in counted), sum(one.sent for one in counted)
        if not exceeds(bounced, sent, MOST_BOUNCED):
            break
        end = next_day(now + later * _DAY)
    return end


def next_day(now: datetime) -> datetime:
    """Return the end of a day in UTC."""
    return datetime.combine(now.date() + _DAY, time(), now.tzinfo)
