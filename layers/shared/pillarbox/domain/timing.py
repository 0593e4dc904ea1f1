"""How far clocks may differ, and moments as numbers.

Every rule that compares the times of two machines uses the margin, or `tests/checks/test_clocks.py`
says why it needs none.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

#: The clocks of two machines may differ by this much. AWS keeps clocks within milliseconds; the
#: margin is for one that has lost its synchronization.
#:
#: A lease starts at its owner's clock and ends at the clock of the one who takes it over. So a
#: lease lasts at least as long as its owner may run, plus this margin.
CLOCK_MARGIN: Final = timedelta(seconds=30)


#: What a text is that `parse_moment` cannot read.
NO_MOMENT: Final = "must be a time with an offset, such as 2026-03-14T15:00:00+01:00"


def parse_moment(text: str) -> datetime | None:
    """Read a moment of RFC 3339 section 5.6, which has an offset; None for any other text.

    It is returned in UTC, so one that is in the year 0 or 10000 there is None too.
    """
    try:
        moment = datetime.fromisoformat(text) if text[10:11] in {"T", "t", " "} else None
        return moment.astimezone(UTC) if moment and moment.tzinfo else None
    except (ValueError, OverflowError):
        return None


def milliseconds(moment: datetime) -> int:
    """Return a moment in milliseconds since 1970."""
    return round(moment.timestamp() * 1000)


def to_datetime(moment: int) -> datetime:
    """Return the moment of a number of milliseconds since 1970."""
    return datetime.fromtimestamp(moment / 1000, UTC)
