"""Until when the service's own mail to strangers pauses."""

from datetime import datetime

from pillarbox.application.ports import StrangerMail
from pillarbox.domain.sign_in.strangers import ALL, Cause, first_day, is_reckless, paused_until


def paused(records: StrangerMail, cause: Cause, now: datetime) -> datetime | None:
    """Return until when such mail to strangers pauses; None if it does not."""
    day = first_day(now)
    ends = [paused_until(records.since(name, day), now) for name in (cause.audience, ALL)]
    if cause.party:
        ends.append(paused_until(records.since(cause.own, day), now, is_reckless))
    return max(filter(None, ends), default=None)
