"""Looks at domains and other requests that can take seconds have a budget."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from pillarbox.application.slow_requests import SlowRequests
from pillarbox.domain.errors import ServiceError

PER_MINUTE = 60


def test_an_account_has_so_many_slow_requests_a_minute() -> None:
    """The next one is refused with the time until the minute ends; others lose nothing."""
    counted, moment = Counter[tuple[str, datetime]](), datetime(2026, 7, 22, 10, 0, 15, tzinfo=UTC)

    def count(subject: str, window: timedelta, most: int, now: datetime) -> bool:
        assert window == timedelta(minutes=1)
        key = (subject, now.replace(second=0))
        counted[key] += 1
        return counted[key] <= most

    budget = SlowRequests(count=count, clock=lambda: moment)
    for _ in range(PER_MINUTE):
        budget.take("acct00000001")
    with pytest.raises(ServiceError) as refused:
        budget.take("acct00000001")
    assert refused.value.code == "rate_limit_exceeded"
    assert refused.value.headers["RateLimit-Reset"] == "45"
    budget.take("acct00000002")
    moment += timedelta(minutes=1)
    budget.take("acct00000001")
