"""The limit of SES's sending rate: a worker takes its share, counted in recipients."""

from datetime import timedelta

import pytest

from pillarbox.adapters.ses.rate import SendRateLimiter
from tests.fakes.builders import NOW


class Case:
    """A limiter for two workers at 10 recipients per second, with its own clock."""

    def __init__(self) -> None:
        self.now = NOW
        self.reads = 0
        self.rate: float | None = 10.0
        self.pauses: list[float] = []
        self.limiter = SendRateLimiter(2, lambda: self.now, self.pause, self.read_rate)

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += timedelta(seconds=seconds)

    def read_rate(self) -> float | None:
        self.reads += 1
        return self.rate

    def acquire(self, recipients: int) -> bool:
        return self.limiter.acquire(recipients, urgent=False) is None


@pytest.fixture
def case() -> Case:
    return Case()


def test_a_burst_is_sent_at_once_and_then_the_share_applies(case: Case) -> None:
    """At first a worker has one second of the whole rate; then it has half of the rate."""
    assert all(case.acquire(1) for _ in range(10))
    assert case.pauses == []
    assert all(case.acquire(1) for _ in range(10))
    assert sum(case.pauses) == pytest.approx(2.0)


def test_each_recipient_counts(case: Case) -> None:
    """An email to ten recipients takes as much as ten emails to one."""
    assert case.acquire(10)
    assert case.acquire(5)
    assert case.pauses == [pytest.approx(1.0)]


def test_an_email_above_the_rate_is_sent_and_delays_the_next(case: Case) -> None:
    """With 50 recipients an email is sent when the bucket is full, and the next ones wait."""
    assert case.acquire(50)
    assert not case.acquire(1)
    case.now += timedelta(seconds=7)
    assert case.acquire(1)


def test_a_long_wait_is_left_to_the_queue(case: Case) -> None:
    """If the wait were over two seconds, the email is postponed and takes nothing."""
    assert case.acquire(11)
    assert not case.acquire(11)
    assert case.pauses == []
    case.now += timedelta(seconds=1)
    assert case.acquire(4)
    assert case.pauses == []


def test_the_rate_is_read_once_an_hour(case: Case) -> None:
    """The rate is read again after an hour, because SES may raise it."""
    case.acquire(1)
    case.now += timedelta(minutes=59)
    case.acquire(1)
    assert case.reads == 1
    case.now += timedelta(minutes=1)
    case.acquire(1)
    assert case.reads == 2


def test_an_unknown_rate_is_no_limit(case: Case) -> None:
    """If SES reports no rate, emails are sent at once, and SES throttles if it must."""
    case.rate = None
    assert all(case.acquire(50) for _ in range(100))
    assert case.pauses == []
