"""How a mail says things: spans of time, moments, and where help is found."""

from datetime import UTC, datetime

from pillarbox.domain.errors import Json

_MINUTES_AN_HOUR = 60
_MINUTES_A_DAY = 24 * _MINUTES_AN_HOUR


def duration(minutes: Json) -> str:
    """Minutes in words: `10 minutes`, `1 hour`, `2 days`. No whole number: as it is."""
    text = str(minutes).strip()
    number = _whole(text)
    if number is None:
        return f"{text} minutes"
    if number >= 2 * _MINUTES_A_DAY and number % _MINUTES_A_DAY == 0:
        return f"{number // _MINUTES_A_DAY} days"
    if number >= _MINUTES_AN_HOUR and number % _MINUTES_AN_HOUR == 0:
        return _counted(number // _MINUTES_AN_HOUR, "hour")
    return _counted(number, "minute")


def days_ahead(days: Json) -> str:
    """A number of days as people say it: `today`, `tomorrow`, `in 3 days`."""
    text = str(days).strip()
    number = _whole(text)
    near = {0: "today", 1: "tomorrow"}
    return f"in {text} days" if number is None else near.get(number, f"in {number} days")


def moment(at: datetime) -> str:
    """A point in time in words, in UTC: `20 November 2026, 14:05 UTC`."""
    at = at.astimezone(UTC)
    return f"{at.day} {at:%B %Y, %H:%M} UTC"


def contact_url(contact: Json) -> str:
    """What a link to a contact opens: a bare address becomes a mailto: URL (RFC 6068)."""
    text = str(contact)
    return text if ":" in text else f"mailto:{text}"


def _whole(text: str) -> int | None:
    """The number that the text is, if it is one of at most nine digits."""
    is_number = text.isascii() and text.isdigit() and len(text) <= 9  # noqa: PLR2004  said above
    return int(text) if is_number else None


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
