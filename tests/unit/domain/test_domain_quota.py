"""Quotas: UTC windows, and the refusal when a window is full (contract 8.1)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.accounts.account import PLAN_LIMITS, PREVIEW_LIMITS, Plan
from pillarbox.domain.accounts.key import KeyType
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.accounts.quota import (
    WINDOWS,
    Amount,
    Limits,
    QuotaState,
    Window,
    add,
    first_full,
    remaining_quota,
    window_end,
    window_name,
)
from tests.fakes import builders
from tests.fakes.builders import NOW, UNLIMITED, messages

TIGHT = Limits(per_minute=2, per_day=5, per_month=9)


@pytest.mark.parametrize(
    ("window", "time", "name", "end"),
    [
        ("minute", "2026-03-14T15:09:26+00:00", "minute:2026-03-14T15:09", "2026-03-14T15:10"),
        ("minute", "2026-12-31T23:59:59+00:00", "minute:2026-12-31T23:59", "2027-01-01T00:00"),
        ("day", "2026-03-14T15:09:26+00:00", "day:2026-03-14", "2026-03-15T00:00"),
        ("day", "2024-02-28T23:00:00+00:00", "day:2024-02-28", "2024-02-29T00:00"),
        ("recipients", "2026-12-31T23:00:00+00:00", "recipients:2026-12-31", "2027-01-01T00:00"),
        ("month", "2026-01-31T12:00:00+00:00", "month:2026-01", "2026-02-01T00:00"),
        ("month", "2026-12-01T00:00:00+00:00", "month:2026-12", "2027-01-01T00:00"),
        ("day", "2026-03-15T01:00:00+02:00", "day:2026-03-14", "2026-03-15T00:00"),
    ],
)
def test_windows_are_utc_calendar_units(window: Window, time: str, name: str, end: str) -> None:
    """A time with any offset belongs to its UTC minute, day and month."""
    now = datetime.fromisoformat(time)
    assert window_name(window, now) == name
    assert window_end(window, now) == datetime.fromisoformat(end).replace(tzinfo=UTC)


@given(
    st.sampled_from(WINDOWS),
    st.integers(0, 4 * 10**9).map(
        lambda seconds: datetime.fromtimestamp(seconds, timezone(timedelta(hours=5)))
    ),
)
def test_a_window_ends_where_the_next_begins(window: Window, now: datetime) -> None:
    """The end of a window belongs to the next one; a microsecond earlier belongs to the same."""
    end = window_end(window, now)
    assert now < end
    assert window_name(window, end) != window_name(window, now)
    assert window_name(window, end - timedelta(microseconds=1)) == window_name(window, now)


@pytest.mark.parametrize(
    ("used", "room", "full"),
    [
        ({}, 2, None),
        ({"minute": 1}, 1, None),
        ({"minute": 2}, 0, ("rate_limit_exceeded", {"limit_per_minute": 2}, "0", "34")),
        ({"minute": 7}, 0, ("rate_limit_exceeded", {"limit_per_minute": 2}, "0", "34")),
        ({"day": 5}, 0, ("daily_limit_exceeded", {"limit_per_day": 5}, "0", "31834")),
        ({"month": 9}, 0, ("monthly_limit_exceeded", {"limit_per_month": 9}, "0", "1500634")),
        ({"minute": 2, "day": 5}, 0, ("rate_limit_exceeded", {"limit_per_minute": 2}, "0", "34")),
    ],
)
def test_the_shortest_full_window_refuses(
    used: dict[Window, int], room: int, full: tuple[str, dict[str, int], str, str] | None
) -> None:
    """A 429 names the shortest full window, its limit and its end, without Retry-After."""
    refusal = first_full(TIGHT, used, messages(1), NOW)

    assert remaining_quota(TIGHT, used) == room
    if full is None:
        assert refusal is None
        return
    assert refusal is not None
    code, details, remaining, reset = full
    assert (refusal.status, refusal.code, refusal.details) == (429, code, details)
    assert (
        refusal.headers
        == {
            "RateLimit-Limit": str(next(iter(details.values()))),
            "RateLimit-Remaining": remaining,
            "RateLimit-Reset": reset,
        }
        | QuotaState(TIGHT, used, NOW).header_fields
    )


def test_the_header_fields_have_a_policy_for_each_limit() -> None:
    """RateLimit-Policy has quota and length of each limited window, RateLimit what is left."""
    limits = Limits(per_minute=60, per_day=None, per_month=9000, recipients_per_day=50)
    february = datetime(2028, 2, 28, 23, 59, 29, 1000, tzinfo=UTC)
    used: dict[Window, int] = {"minute": 61, "recipients": 20, "month": 10}
    assert QuotaState(limits, used, february).header_fields == {
        "RateLimit-Policy": '"minute";q=60;w=60, "recipients";q=50;w=86400,'
        ' "month";q=9000;w=2505600',
        "RateLimit": '"minute";r=0;t=31, "recipients";r=30;t=31, "month";r=8990;t=86431',
    }


def test_without_a_limit_there_are_no_header_fields() -> None:
    assert QuotaState(UNLIMITED, {"month": 5}, NOW).header_fields == {}


def test_no_limit_is_never_full() -> None:
    """None means no limit, and 0 means no messages."""
    assert remaining_quota(UNLIMITED, {"minute": 10**9}) is None
    assert first_full(UNLIMITED, {"month": 10**9}, messages(10**6), NOW) is None
    assert remaining_quota(Limits(per_minute=0, per_day=None, per_month=None), {}) == 0


@pytest.mark.parametrize(
    ("plan", "overrides", "limits"),
    [
        (Plan.FREE, UNLIMITED, (60, 300, 9_000)),
        (Plan.STANDARD, UNLIMITED, (600, 1_500, 15_000)),
        (
            Plan.STANDARD,
            Limits(per_minute=None, per_day=None, per_month=50_000),
            (600, 5_000, 50_000),
        ),
        (Plan.STANDARD, Limits(per_minute=5, per_day=7, per_month=50_000), (5, 7, 50_000)),
        (Plan.FREE, Limits(per_minute=0, per_day=None, per_month=None), (0, 300, 9_000)),
        (Plan.ENTERPRISE, UNLIMITED, (None, None, None)),
        (Plan.ENTERPRISE, Limits(per_minute=1, per_day=2, per_month=3), (1, 2, 3)),
    ],
)
def test_limits_of_the_account_override_those_of_the_plan(
    plan: Plan, overrides: Limits, limits: tuple[int | None, ...]
) -> None:
    """Each plan has its limits, and the account can override each of them, also with 0."""
    own = builders.account(plan=plan, overrides=overrides).limits
    assert (own.per_minute, own.per_day, own.per_month) == limits


def test_preview_keys_have_their_own_limits() -> None:
    """A preview key may send 10 emails per minute, 50 per day, 1,500 per month (contract 8.1)."""
    text = builders.key_text(key_type=KeyType.PREVIEW)
    principal = Principal(builders.preview_key(text), builders.account(plan=Plan.ENTERPRISE))
    assert principal.limits == PREVIEW_LIMITS
    assert principal.limits == Limits(per_minute=10, per_day=50, per_month=1_500)


@pytest.mark.parametrize(
    ("limits", "recipients"),
    [
        (UNLIMITED, None),
        (Limits(per_minute=None, per_day=300, per_month=None), 1_500),
        (Limits(per_minute=None, per_day=1, per_month=None), 50),
        (Limits(per_minute=None, per_day=0, per_month=None), 50),
        (replace(UNLIMITED, recipients_per_day=7), 7),
        (Limits(per_minute=None, per_day=300, per_month=None, recipients_per_day=0), 0),
        (PREVIEW_LIMITS, 250),
        (PLAN_LIMITS[Plan.FREE], 1_500),
        (PLAN_LIMITS[Plan.STANDARD], 7_500),
        (PLAN_LIMITS[Plan.ENTERPRISE], None),
    ],
)
def test_the_recipients_of_a_day_follow_from_its_messages(
    limits: Limits, recipients: int | None
) -> None:
    """Without a limit of its own, there are five recipients a message, and 50 at least."""
    assert limits.of("recipients") == recipients


def test_recipients_are_counted_in_a_window_of_their_own() -> None:
    limits = replace(UNLIMITED, per_day=9, recipients_per_day=60)
    used = add({}, Amount(1, 50))
    assert used == {"minute": 1, "day": 1, "recipients": 50, "month": 1}
    assert first_full(limits, used, Amount(1, 10), NOW) is None
    refusal = first_full(limits, used, Amount(1, 11), NOW)
    assert refusal is not None
    assert (refusal.status, refusal.code) == (429, "daily_limit_exceeded")
    assert refusal.details == {"limit_recipients_per_day": 60}
    assert refusal.message == "The account may send to 60 recipients per day; 10 are left."
    assert refusal.headers == {
        "RateLimit-Limit": "60",
        "RateLimit-Remaining": "10",
        "RateLimit-Reset": "31834",
        "RateLimit-Policy": '"day";q=9;w=86400, "recipients";q=60;w=86400',
        "RateLimit": '"day";r=8;t=31834, "recipients";r=10;t=31834',
    }
