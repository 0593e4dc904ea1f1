"""Quotas: UTC windows, and the refusal when one is full (contract 8.1)."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.account import PREVIEW_LIMITS, Plan
from pillarbox.domain.key import KeyType, Principal
from pillarbox.domain.quota import (
    WINDOWS,
    Limits,
    Window,
    first_full,
    left,
    window_end,
    window_name,
)
from tests.fakes import builders
from tests.fakes.builders import NOW, UNLIMITED

TIGHT = Limits(per_minute=2, per_day=5, per_month=9)


@pytest.mark.parametrize(
    ("window", "moment", "name", "end"),
    [
        ("minute", "2026-03-14T15:09:26+00:00", "minute:2026-03-14T15:09", "2026-03-14T15:10"),
        ("minute", "2026-12-31T23:59:59+00:00", "minute:2026-12-31T23:59", "2027-01-01T00:00"),
        ("day", "2026-03-14T15:09:26+00:00", "day:2026-03-14", "2026-03-15T00:00"),
        ("day", "2024-02-28T23:00:00+00:00", "day:2024-02-28", "2024-02-29T00:00"),
        ("month", "2026-01-31T12:00:00+00:00", "month:2026-01", "2026-02-01T00:00"),
        ("month", "2026-12-01T00:00:00+00:00", "month:2026-12", "2027-01-01T00:00"),
        ("day", "2026-03-15T01:00:00+02:00", "day:2026-03-14", "2026-03-15T00:00"),
    ],
)
def test_windows_are_utc_calendar_units(window: Window, moment: str, name: str, end: str) -> None:
    """A moment lies in the UTC minute, day and month of its own, whatever its offset."""
    now = datetime.fromisoformat(moment)
    assert window_name(window, now) == name
    assert window_end(window, now) == datetime.fromisoformat(end).replace(tzinfo=UTC)


@given(
    st.sampled_from(WINDOWS),
    st.integers(0, 4 * 10**9).map(
        lambda seconds: datetime.fromtimestamp(seconds, timezone(timedelta(hours=5)))
    ),
)
def test_a_window_ends_where_the_next_begins(window: Window, now: datetime) -> None:
    """The end of a window lies in another one, and the instant before in the same."""
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
    """A 429 names the shortest full window, its limit and its end; never Retry-After."""
    refusal = first_full(TIGHT, used, 1, NOW)

    assert left(TIGHT, used) == room
    if full is None:
        assert refusal is None
        return
    assert refusal is not None
    code, details, remaining, reset = full
    assert (refusal.status, refusal.code, refusal.details) == (429, code, details)
    assert refusal.headers == {
        "RateLimit-Limit": str(next(iter(details.values()))),
        "RateLimit-Remaining": remaining,
        "RateLimit-Reset": reset,
    }


def test_several_at_once_need_room_for_all() -> None:
    """Three messages do not fit where two do, and the refusal tells how many are left."""
    refusal = first_full(TIGHT, {"minute": 1}, 2, NOW)
    assert refusal is not None
    assert refusal.headers["RateLimit-Remaining"] == "1"


def test_no_limit_is_never_full() -> None:
    """None is any number; 0 is none at all."""
    assert left(UNLIMITED, {"minute": 10**9}) is None
    assert first_full(UNLIMITED, {"month": 10**9}, 10**6, NOW) is None
    assert left(Limits(per_minute=0, per_day=None, per_month=None), {}) == 0


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
def test_an_account_puts_its_figures_over_its_plan(
    plan: Plan, overrides: Limits, limits: tuple[int | None, ...]
) -> None:
    """Each plan has its limits, each figure can be the account's own, 0 too."""
    own = builders.account(plan=plan, overrides=overrides).limits
    assert (own.per_minute, own.per_day, own.per_month) == limits


def test_preview_keys_have_limits_of_their_own() -> None:
    """A preview key sends 10 a minute, 50 a day and 1,500 a month (contract 8.1)."""
    text = builders.key_text(key_type=KeyType.PREVIEW)
    principal = Principal(builders.preview_key(text), builders.account(plan=Plan.ENTERPRISE))
    assert principal.limits == PREVIEW_LIMITS
    assert principal.limits == Limits(per_minute=10, per_day=50, per_month=1_500)


@pytest.mark.parametrize(
    ("used", "count", "room"),
    [({}, 2, 2), ({}, 3, 2), ({"minute": 3, "day": 3}, 7, 7), ({"minute": 3, "day": 3}, 8, 7)],
)
def test_all_that_fits_is_let_through(used: dict[Window, int], count: int, room: int) -> None:
    """Up to the last message that fits there is no refusal; one more is told what was left."""
    limits = Limits(per_minute=2 if not used else 10, per_day=None, per_month=None)
    refusal = first_full(limits, used, count, NOW)

    assert left(limits, used) == room
    assert (refusal is None) == (count <= room)
    if refusal is not None:
        assert refusal.headers["RateLimit-Remaining"] == str(room)
