"""Keeping SES's sending rate: a worker's share of it, counted in recipients."""

from datetime import timedelta

import pytest

from pillarbox.adapters.ses.rate import SendRateLimiter
from tests.fakes.builders import NOW


class Case:
    """A pace of two workers at 10 recipients a second, on a clock of its own."""

    def __init__(self) -> None:
        self.now = NOW
        self.asked = 0
        self.rate: float | None = 10.0
        self.paused: list[float] = []
        self.pace = SendRateLimiter(2, lambda: self.now, self.pause)

    def pause(self, seconds: float) -> None:
        self.paused.append(seconds)
        self.now += timedelta(seconds=seconds)

    def ask(self) -> float | None:
        self.asked += 1
        return self.rate

    def keep(self, recipients: int) -> bool:
        return self.pace.acquire(recipients, self.ask)


@pytest.fixture
def case() -> Case:
    return Case()


def test_a_burst_goes_out_at_once_and_then_the_share_is_kept(case: Case) -> None:
    """One second of the whole rate is there at first; then each takes half of it."""
    assert all(case.keep(1) for _ in range(10))
    assert case.paused == []
    assert all(case.keep(1) for _ in range(10))
    assert sum(case.paused) == pytest.approx(2.0)


def test_recipients_weigh(case: Case) -> None:
    """A mail to ten takes what ten mails take."""
    assert case.keep(10)
    assert case.keep(5)
    assert case.paused == [pytest.approx(1.0)]


def test_a_mail_larger_than_the_rate_goes_out_and_is_paid_for(case: Case) -> None:
    """Fifty recipients at ten a second: sent when the bucket is full, and the next ones wait."""
    assert case.keep(50)
    assert not case.keep(1)
    case.now += timedelta(seconds=7)
    assert case.keep(1)


def test_a_long_wait_is_left_to_the_queue(case: Case) -> None:
    """Beyond two seconds the mail is put back, and takes nothing."""
    assert case.keep(11)
    assert not case.keep(11)
    assert case.paused == []
    case.now += timedelta(seconds=1)
    assert case.keep(4)
    assert case.paused == []


def test_the_rate_is_asked_once_an_hour(case: Case) -> None:
    """SES raises a rate as the account proves itself."""
    case.keep(1)
    case.now += timedelta(minutes=59)
    case.keep(1)
    assert case.asked == 1
    case.now += timedelta(minutes=1)
    case.keep(1)
    assert case.asked == 2


def test_without_a_known_rate_nothing_is_held_back(case: Case) -> None:
    """When SES does not say, mail goes out; SES throttles where it must."""
    case.rate = None
    assert all(case.keep(50) for _ in range(100))
    assert case.paused == []
