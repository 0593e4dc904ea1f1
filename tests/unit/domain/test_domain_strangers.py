"""When mail to strangers pauses, and until when."""

from datetime import UTC, date, datetime
from typing import Final

from pillarbox.domain.sign_in.strangers import StrangerDay, paused_until

NOON: Final = datetime(2026, 1, 2, 12, tzinfo=UTC)
YESTERDAY, TODAY = date(2026, 1, 1), date(2026, 1, 2)


def test_few_emails_pause_nothing() -> None:
    """19 bounces of 19 are too few to tell; 3 of 20 are too many, and 2 are not."""
    pauses = {(19, 19): False, (20, 3): True, (20, 2): False, (500, 30): False, (500, 34): True}
    for (sent, bounced), expected in pauses.items():
        assert (paused_until([StrangerDay(TODAY, sent, bounced)], NOON) is not None) is expected


def test_bounces_count_until_the_end_of_the_next_day() -> None:
    """Those of today pause until tomorrow is over, those of yesterday until today is."""
    assert paused_until([], NOON) is None
    of_today, of_yesterday = StrangerDay(TODAY, 20, 10), StrangerDay(YESTERDAY, 20, 10)
    assert paused_until([of_today], NOON) == datetime(2026, 1, 4, tzinfo=UTC)
    assert paused_until([of_yesterday], NOON) == datetime(2026, 1, 3, tzinfo=UTC)
    assert paused_until([of_yesterday, of_today], NOON) == datetime(2026, 1, 4, tzinfo=UTC)
    assert paused_until([StrangerDay(date(2025, 12, 31), 20, 20)], NOON) is None


def test_days_are_judged_together() -> None:
    """Neither day shows enough alone, and the pause lasts as long as both count."""
    days = [StrangerDay(YESTERDAY, 12, 4), StrangerDay(TODAY, 12, 4)]
    assert paused_until(days, NOON) == datetime(2026, 1, 3, tzinfo=UTC)
