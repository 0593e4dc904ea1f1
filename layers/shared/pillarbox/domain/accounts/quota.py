"""Send quotas: UTC calendar minutes, days and months (contract section 8.1).

Three windows count messages. A fourth counts recipients a day, because the provider's own quota
does: an email to 50 recipients costs it as much as 50 emails.

A costly refusal is that of a message for which the DNS was asked. It uses no quota, so it counts in
a window of its own. Otherwise one key could make any number of them. Requests that read many
records and accept nothing count there too (`application/sending/admission.py`).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from pillarbox.domain.errors import ServiceError

#: "recipients" is the window of a day that counts recipients; the others count messages.
type Window = Literal["minute", "day", "recipients", "month"]

#: From the shortest to the longest.
WINDOWS: Final[tuple[Window, ...]] = ("minute", "day", "recipients", "month")
MESSAGE_WINDOWS: Final[tuple[Window, ...]] = ("minute", "day", "month")
RECIPIENT_WINDOWS: Final[tuple[Window, ...]] = ("recipients",)

_CODES: Final[Mapping[Window, str]] = {
    "minute": "rate_limit_exceeded",
    "day": "daily_limit_exceeded",
    "recipients": "daily_limit_exceeded",
    "month": "monthly_limit_exceeded",
}

#: Without a limit of its own, an account may send to so many recipients for each message of its
#: day. Transactional email has one or two. At least one message to the most recipients fits.
RECIPIENTS_PER_MESSAGE: Final = 5
_LEAST_RECIPIENTS: Final = 50


@dataclass(frozen=True, slots=True)
class Amount:
    """What messages take from a quota: their number, and the number of their recipients."""

    messages: int
    recipients: int

    def of(self, window: Window) -> int:
        return self.recipients if window == "recipients" else self.messages

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.messages + other.messages, self.recipients + other.recipients)

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(self.messages - other.messages, self.recipients - other.recipients)

    def __bool__(self) -> bool:
        return self.messages > 0 or self.recipients > 0


NOTHING: Final = Amount(0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many messages an account may send in each window. None means no limit.

    Without a limit of its own, the number of recipients follows from the messages of a day.
    """

    per_minute: int | None
    per_day: int | None
    per_month: int | None
    recipients_per_day: int | None = None
    #: Whether they are the limits of one key, not of its account.
    of_key: bool = False

    def of(self, window: Window) -> int | None:
        match window:
            case "minute":
                return self.per_minute
            case "day":
                return self.per_day
            case "month":
                return self.per_month
        if self.recipients_per_day is not None or self.per_day is None:
            return self.recipients_per_day
        return max(self.per_day * RECIPIENTS_PER_MESSAGE, _LEAST_RECIPIENTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowUsage:
    """A quota window: its limit (None if there is none), its count, and when it starts and ends."""

    window: Window
    used: int
    limit: int | None
    starts: datetime
    ends: datetime

    @property
    def left(self) -> int | None:
        """What may still be sent in this window; None if it has no limit."""
        return None if self.limit is None else max(self.limit - self.used, 0)


@dataclass(frozen=True, slots=True)
class QuotaState:
    """The limits of a caller, and what is used of them at a moment.

    Others may use quota at the same time, so the counts may be a little behind. `of_key` is the
    state of the key's own quota, if it has one.
    """

    limits: Limits
    used: Mapping[Window, int]
    now: datetime
    of_key: "QuotaState | None" = None

    @property
    def windows(self) -> list[WindowUsage]:
        """The usage of each window that is open now; of account and key, where less is left."""
        if self.of_key is None:
            return self._own_windows
        pairs = zip(self._own_windows, self.of_key.windows, strict=True)
        return [min(pair, key=lambda usage: _or_endless(usage.left)) for pair in pairs]

    @property
    def _own_windows(self) -> list[WindowUsage]:
        return [
            WindowUsage(
                window=window,
                used=self.used.get(window, 0),
                limit=self.limits.of(window),
                starts=window_start(window, self.now),
                ends=window_end(window, self.now),
            )
            for window in WINDOWS
        ]

    @property
    def header_fields(self) -> dict[str, str]:
        """The fields RateLimit and RateLimit-Policy, with a policy for each limited window.

        Without any limit there are none: a list of RFC 9651 is never empty.
        """
        return rate_limit_fields(
            RateLimitPolicy(
                name=usage.window,
                quota=usage.limit,
                left=usage.left or 0,
                length=usage.ends - usage.starts,
                resets_in=usage.ends - self.now,
            )
            for usage in self.windows
            if usage.limit is not None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimitPolicy:
    """A limit as header fields describe it: of `quota`, `left` may be used until it resets."""

    name: str
    quota: int
    left: int
    length: timedelta
    resets_in: timedelta


def rate_limit_fields(policies: Iterable[RateLimitPolicy]) -> dict[str, str]:
    """Write policies as header fields (draft-ietf-httpapi-ratelimit-headers-10)."""
    policies = [*policies]
    if not policies:
        return {}
    quotas = (f'"{one.name}";q={one.quota};w={whole_seconds(one.length)}' for one in policies)
    states = (f'"{one.name}";r={one.left};t={whole_seconds(one.resets_in)}' for one in policies)
    return {"RateLimit-Policy": ", ".join(quotas), "RateLimit": ", ".join(states)}


def whole_seconds(length: timedelta) -> int:
    """Return a length in seconds, rounded up."""
    return -(-length // timedelta(seconds=1))


def too_many(message: str, limit: int, resets_in: timedelta) -> ServiceError:
    """Return the refusal of a request of which there can be so many until then."""
    return ServiceError("rate_limit_exceeded", message, headers=_limit_fields(limit, 0, resets_in))


def too_many_this_minute(message: str, limit: int, now: datetime) -> ServiceError:
    return too_many(message, limit, window_end("minute", now) - now)


def _limit_fields(limit: int, remaining: int, resets_in: timedelta) -> dict[str, str]:
    return {
        "RateLimit-Limit": str(limit),
        "RateLimit-Remaining": str(remaining),
        "RateLimit-Reset": str(whole_seconds(resets_in)),
    }


class QuotaExceeded(ServiceError):
    """429: a window has too little quota left. Has the RateLimit headers, never Retry-After.

    `limits` are those that it names, `used` is the count of each window at the time of the
    refusal.
    """

    def __init__(
        self, window: Window, limits: Limits, used: Mapping[Window, int], now: datetime
    ) -> None:
        self.limits = limits
        self.used = used
        limit = limits.of(window) or 0
        remaining = max(limit - used.get(window, 0), 0)
        if window == "recipients":
            text, name = f"to {limit} recipients per day", "limit_recipients_per_day"
        else:
            text, name = f"{limit} messages per {window}", f"limit_per_{window}"
        super().__init__(
            _CODES[window],
            f"The {'key' if limits.of_key else 'account'} may send {text}; {remaining} are left.",
            details={name: limit},
            headers=_limit_fields(limit, remaining, window_end(window, now) - now)
            | QuotaState(limits, used, now).header_fields,
        )


def _or_endless(left: int | None) -> float:
    return math.inf if left is None else left


def window_name(window: Window, now: datetime) -> str:
    """Return the name of the window that contains a time, such as `minute:2026-11-20T23:12`."""
    length = {"minute": 16, "day": 10, "recipients": 10, "month": 7}[window]
    return f"{window}:{now.astimezone(UTC).isoformat()[:length]}"


def window_start(window: Window, now: datetime) -> datetime:
    start = now.astimezone(UTC).replace(second=0, microsecond=0)
    if window == "minute":
        return start
    start = start.replace(hour=0, minute=0)
    return start.replace(day=1) if window == "month" else start


def window_end(window: Window, now: datetime) -> datetime:
    start = window_start(window, now)
    if window == "minute":
        return start + timedelta(minutes=1)
    if window != "month":
        return start + timedelta(days=1)
    return (start + timedelta(days=32)).replace(day=1)


def remaining_quota(
    limits: Limits, used: Mapping[Window, int], windows: tuple[Window, ...] = MESSAGE_WINDOWS
) -> int | None:
    """Return how many messages, or recipients, still fit into some windows. None means no limit."""
    remaining = [
        limit - used.get(window, 0)
        for window in windows
        if (limit := limits.of(window)) is not None
    ]
    return max(min(remaining), 0) if remaining else None


def first_full(
    limits: Limits, used: Mapping[Window, int], amount: Amount, now: datetime
) -> QuotaExceeded | None:
    """Return the refusal of more messages, or None if every window has room for them.

    The refusal names the shortest window that has too little room.
    """
    for window in WINDOWS:
        limit = limits.of(window)
        if limit is not None and used.get(window, 0) + amount.of(window) > limit:
            return QuotaExceeded(window, limits, used, now)
    return None


def add(used: Mapping[Window, int], amount: Amount) -> dict[Window, int]:
    """Return the counts after some messages."""
    return {window: used.get(window, 0) + amount.of(window) for window in WINDOWS}


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
        """
        if full := first_full(limits, self._used(now), Amount(1, 1), now):
            raise full
        self.check_refusals(limits, now)

    def check_refusals(self, limits: Limits, now: datetime) -> None:
        """Refuse a request of an account with too many costly refusals in this minute."""
        limit = refusal_limit(limits)
        if limit is not None and self.by_window.get(refusals_name(now), 0) >= limit:
            raise _too_many_refusals(limit, now)

    def state(self, limits: Limits, now: datetime, accepted: Amount = NOTHING) -> QuotaState:
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
        headers=_limit_fields(limit, 0, resets_in) | rate_limit_fields([policy]),
    )
