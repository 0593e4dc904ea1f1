"""What an account's quota record counts: accepted messages, and costly refusals.

A costly refusal is that of a message for which the DNS was asked. It uses no quota, so it counts in
a window of its own. Otherwise one key could make any number of them. Requests that read many
records and accept nothing count there too (`application/sending/costly_requests.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from pillarbox.domain.accounts.quota import (
    NOTHING,
    WINDOWS,
    Amount,
    Limits,
    QuotaState,
    RateLimitPolicy,
    Window,
    add,
    first_full,
    rate_limit_fields,
    whole_seconds,
    window_end,
    window_name,
)
from pillarbox.domain.errors import ServiceError

#: The start of the names of the windows of costly refusals.
REFUSALS: Final = "refusals:"
#: Costly refusals in a minute for each message that the account may send in one. A sender whose
#: addresses are wrong two times out of three does not reach it.
_REFUSALS_A_MESSAGE: Final = 2
#: An account with a small limit, which tries its first addresses, may have so many.
_LEAST_REFUSALS: Final = 20


def refusals_name(now: datetime) -> str:
    """Return the name of the window of costly refusals, such as `refusals:2026-11-20T23:12`."""
    return REFUSALS + now.astimezone(UTC).isoformat()[:16]


def refusal_limit(limits: Limits) -> int | None:
    """Return how many costly refusals an account may have in a minute. None means no limit."""
    if limits.per_minute is None:
        return None
    return max(_LEAST_REFUSALS, _REFUSALS_A_MESSAGE * limits.per_minute)


@dataclass(frozen=True, slots=True)
class QuotaCounts:
    """The counts of an account by the names of their windows, as they were read."""

    by_window: Mapping[str, int] = field(default_factory=dict)

    def check(self, limits: Limits, now: datetime) -> None:
        """Refuse a request that cannot be accepted, before it costs more.

        Others may use quota later. So only the reservation decides that a message fits.

        Raises:
            ServiceError: a quota error; `rate_limit_exceeded` for too many costly refusals.
        """
        if full := first_full(limits, self._used(now), Amount(1, 1), now):
            raise full
        self.check_refusals(limits, now)

    def check_refusals(self, limits: Limits, now: datetime) -> None:
        """Refuse a request of an account with too many costly refusals in this minute.

        Raises:
            ServiceError: `rate_limit_exceeded`.
        """
        limit = refusal_limit(limits)
        if limit is not None and self.by_window.get(refusals_name(now), 0) >= limit:
            raise _too_many_refusals(limit, now)

    def state(self, limits: Limits, now: datetime, accepted: Amount = NOTHING) -> QuotaState:
        """Return the state of the quota after messages that were accepted since the counts."""
        return QuotaState(limits, add(self._used(now), accepted), now)

    def last_day(self) -> datetime | None:
        """Return the end of the last day in which quota was reserved, as far as days are kept."""
        days = [name.removeprefix("day:") for name in self.by_window if name.startswith("day:")]
        if not days:
            return None
        return datetime.fromisoformat(max(days)).replace(tzinfo=UTC) + timedelta(days=1)

    def _used(self, now: datetime) -> dict[Window, int]:
        return {window: self.by_window.get(window_name(window, now), 0) for window in WINDOWS}


def _too_many_refusals(limit: int, now: datetime) -> ServiceError:
    resets_in = window_end("minute", now) - now
    policy = RateLimitPolicy(
        name="refusals", quota=limit, left=0, length=timedelta(minutes=1), resets_in=resets_in
    )
    return ServiceError(
        "rate_limit_exceeded",
        f"At most {limit} messages of the account may be refused or repeated in a minute, and long "
        "lists of recipients count more. Wait for the next minute.",
        details={"limit_per_minute": limit},
        headers={
            "RateLimit-Limit": str(limit),
            "RateLimit-Remaining": "0",
            "RateLimit-Reset": str(whole_seconds(resets_in)),
        }
        | rate_limit_fields([policy]),
    )
