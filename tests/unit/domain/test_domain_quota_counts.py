"""What an account's quota record says before the reservation, and the window of costly refusals."""

from datetime import timedelta

import pytest

from pillarbox.domain.accounts.quota import (
    Limits,
    QuotaCounts,
    QuotaExceeded,
    refusal_limit,
    refusals_name,
    window_name,
)
from tests.fakes.builders import NOW, UNLIMITED
from tests.refusals import refusal


def limits(per_minute: int | None) -> Limits:
    return Limits(per_minute=per_minute, per_day=None, per_month=None)


@pytest.mark.parametrize(
    ("per_minute", "allowed"), [(None, None), (0, 20), (10, 20), (11, 22), (600, 1200)]
)
def test_two_refusals_are_allowed_for_each_message(
    per_minute: int | None, allowed: int | None
) -> None:
    """The limit is twice the messages of a minute, and at least 20; without one there is none."""
    assert refusal_limit(limits(per_minute)) == allowed


@pytest.mark.parametrize(("used", "refused"), [(9, False), (10, True), (11, True)])
def test_a_full_window_refuses(used: int, *, refused: bool) -> None:
    """A window with room for one message refuses nothing; a full one raises its quota error."""
    counts = QuotaCounts({window_name("minute", NOW): used})
    if not refused:
        counts.check(limits(10), NOW)
        return
    with pytest.raises(QuotaExceeded) as error:
        counts.check(limits(10), NOW)
    assert error.value.details == {"limit_per_minute": 10}


@pytest.mark.parametrize(("refusals", "refused"), [(19, False), (20, True), (21, True)])
def test_too_many_costly_refusals_refuse(refusals: int, *, refused: bool) -> None:
    """At the limit the error is rate_limit_exceeded; it says why and has no Retry-After."""
    counts = QuotaCounts({refusals_name(NOW): refusals})
    if not refused:
        counts.check(limits(10), NOW)
        return
    error = refusal(counts.check, limits(10), NOW)
    assert (error.status, error.code) == (429, "rate_limit_exceeded")
    assert error.details == {"limit_per_minute": 20}
    assert "refused" in error.message
    assert error.headers == {
        "RateLimit-Limit": "20",
        "RateLimit-Remaining": "0",
        "RateLimit-Reset": "34",
        "RateLimit-Policy": '"refusals";q=20;w=60',
        "RateLimit": '"refusals";r=0;t=34',
    }


def test_the_counts_of_other_minutes_do_not_matter() -> None:
    """Refusals and messages of the minute before refuse nothing; nor do any without a limit."""
    before = NOW - timedelta(minutes=1)
    past = QuotaCounts({refusals_name(before): 99, window_name("minute", before): 99})
    past.check(limits(10), NOW)
    QuotaCounts({refusals_name(NOW): 10**6}).check(UNLIMITED, NOW)
    assert refusal(past.check, limits(10), before).status == 429
