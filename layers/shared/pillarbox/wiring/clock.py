"""The clock of the service."""

import time
from datetime import UTC, datetime
from typing import Final

#: macOS has no such clock.
_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def utc_now() -> datetime:
    """Return the time in milliseconds, the precision of ids, records and responses."""
    now = read_clock()
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def read_clock() -> datetime:
    """Return the time; tests set it here."""
    return datetime.now(UTC)


def monotonic() -> float:
    """Return the seconds of a clock that nobody sets, to measure how long something took.

    On Linux the time in which the machine slept counts too: the queue's clock went on.
    """
    return read_monotonic()


def read_monotonic() -> float:
    """Return these seconds; tests set them here."""
    return time.clock_gettime(_CLOCK)
