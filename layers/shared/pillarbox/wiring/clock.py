"""The clock of the service."""

import time
from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the time in milliseconds, the precision of ids, records and responses."""
    now = read_clock()
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def read_clock() -> datetime:
    """Return the time; tests set it here."""
    return datetime.now(UTC)


def monotonic() -> float:
    """Return the seconds of a clock that nobody sets, to measure how long something took."""
    return read_monotonic()


def read_monotonic() -> float:
    """Return these seconds; tests set them here."""
    return time.monotonic()
