"""Budgets of slow requests for tests of something else."""

from datetime import UTC, datetime

from pillarbox.application.slow_requests import SlowRequests


def slow_requests(*, used_up: bool = False) -> SlowRequests:
    return SlowRequests(
        count=lambda _subject, _window, _most, _now: not used_up, clock=lambda: datetime.now(UTC)
    )
