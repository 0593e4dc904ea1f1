"""The clock of the service."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the time in milliseconds, the precision of ids, records and responses."""
    now = read_clock()
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def read_clock() -> datetime:
    """Return the time; tests set it here."""
    return datetime.now(UTC)
