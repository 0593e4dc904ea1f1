"""The sending rate of the SES stand-in: a second of the rate, and a small burst."""

from local.ses.rate_limit import RateLimit


def allowed(limit: RateLimit, count: int, now: float, recipients: int = 1) -> int:
    """Return how many of some emails are allowed at a time."""
    return sum(limit.allow(recipients, now) for _ in range(count))


def test_a_second_and_a_burst_are_allowed() -> None:
    limit = RateLimit(14.0)
    assert allowed(limit, 100, 0.0) == 17
    assert [allowed(limit, 100, second) for second in (1.0, 2.0, 3.0)] == [14, 14, 14]


def test_the_sandbox_allows_one_a_second() -> None:
    limit = RateLimit(1.0)
    assert [allowed(limit, 5, second) for second in (0.0, 0.5, 1.0, 1.5, 2.0)] == [2, 0, 1, 0, 1]


def test_recipients_count() -> None:
    assert allowed(RateLimit(14.0), 100, 0.0, recipients=3) == 5


def test_a_large_email_needs_a_second_and_leaves_a_debt() -> None:
    limit = RateLimit(14.0)
    assert limit.allow(50, 0.0)
    assert not limit.allow(1, 2.3)
    assert limit.allow(1, 2.4)
    assert not limit.allow(50, 3.0)


def test_a_clock_that_goes_back_gives_nothing() -> None:
    limit = RateLimit(1.0)
    assert allowed(limit, 5, 10.0) == 2
    assert allowed(limit, 5, 9.0) == 0
