"""Send quotas: UTC calendar minutes, days and months (contract section 8.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from pillarbox.domain.errors import ServiceError

type Window = Literal["minute", "day", "month"]

WINDOWS: Final[tuple[Window, ...]] = ("minute", "day", "month")

_CODES: Final[Mapping[Window, str]] = {
    "minute": "rate_limit_exceeded",
    "day": "daily_limit_exceeded",
    "month": "monthly_limit_exceeded",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many messages an account may send in each window. None means no limit."""

    per_minute: int | None
    per_day: int | None
    per_month: int | None

    def of(self, window: Window) -> int | None:
        """Return the limit of one window."""
        return {"minute": self.per_minute, "day": self.per_day, "month": self.per_month}[window]


class QuotaExceeded(ServiceError):
    """429: a window has too little quota left. Has the RateLimit headers, never Retry-After.

    `used` is the count of each window at the time of the refusal.
    """

    def __init__(
        self, window: Window, limit: int, used: Mapping[Window, int], now: datetime
    ) -> None:
        self.used = used
        remaining = max(limit - used.get(window, 0), 0)
        reset = -(-(window_end(window, now) - now) // timedelta(seconds=1))
        super().__init__(
            _CODES[window],
            f"The account may send {limit} messages per {window}; {remaining} are left.",
            details={f"limit_per_{window}": limit},
            headers={
                "RateLimit-Limit": str(limit),
                "RateLimit-Remaining": str(remaining),
                "RateLimit-Reset": str(reset),
            },
        )


def window_name(window: Window, now: datetime) -> str:
    """Return the name of the window that contains a time, such as `minute:2026-11-20T23:12`."""
    length = {"minute": 16, "day": 10, "month": 7}[window]
    return f"{window}:{now.astimezone(UTC).isoformat()[:length]}"


def window_end(window: Window, now: datetime) -> datetime:
    """Return the end of the window that contains `now`."""
    start = now.astimezone(UTC).replace(second=0, microsecond=0)
    if window == "minute":
        return start + timedelta(minutes=1)
    start = start.replace(hour=0, minute=0)
    if window == "day":
        return start + timedelta(days=1)
    return (start.replace(day=1) + timedelta(days=32)).replace(day=1)


def remaining_quota(limits: Limits, used: Mapping[Window, int]) -> int | None:
    """Return how many messages still fit into every window. None means no limit."""
    remaining = [
        limit - used.get(window, 0)
        for window in WINDOWS
        if (limit := limits.of(window)) is not None
    ]
    return max(min(remaining), 0) if remaining else None


def first_full(
    limits: Limits, used: Mapping[Window, int], count: int, now: datetime
) -> QuotaExceeded | None:
    """Return the refusal of `count` more messages, or None if every window has room for them.

    The refusal names the shortest window that has too little room.
    """
    for window in WINDOWS:
        limit = limits.of(window)
        if limit is not None and used.get(window, 0) + count > limit:
            return QuotaExceeded(window, limit, used, now)
    return None
