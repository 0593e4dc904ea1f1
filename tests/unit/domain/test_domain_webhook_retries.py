"""When a failed webhook is tried again, and what failures do to an endpoint."""

from dataclasses import replace
from datetime import timedelta

import pytest

from pillarbox.domain.webhooks.endpoint import EndpointHealth
from pillarbox.domain.webhooks.retries import (
    after_failure,
    after_success,
    must_wait,
    probe_wait,
    retry_wait,
)
from tests.fakes.builders import NOW, at

_HOUR = timedelta(hours=1)


def test_waits_grow_from_seconds_to_a_day() -> None:
    """5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h; then no attempt follows."""
    waits = [retry_wait(attempts, 0.5) for attempts in range(1, 11)]
    minutes = [wait / timedelta(minutes=1) for wait in waits if wait is not None]
    assert minutes == pytest.approx([5 / 60, 5, 30, 120, 300, 600, 840, 1200, 1440])
    assert waits[9] is None


@pytest.mark.parametrize(("random", "factor"), [(0, 0.8), (1, 1.2)])
def test_a_wait_is_up_to_a_fifth_longer_or_shorter(random: float, factor: float) -> None:
    wait = retry_wait(3, random)
    assert wait is not None
    assert wait / timedelta(minutes=30) == pytest.approx(factor)


def test_retry_after_is_obeyed_up_to_a_day() -> None:
    """A longer Retry-After counts as a day, a shorter one than the schedule changes nothing."""
    assert retry_wait(1, 0.5, _HOUR) == _HOUR
    assert retry_wait(1, 0.5, 50 * _HOUR) == 24 * _HOUR
    assert retry_wait(4, 0.5, _HOUR) == 2 * _HOUR


def test_probes_never_end() -> None:
    """After the last wait of the schedule each probe follows a day after the one before."""
    assert probe_wait(0, 0.5) == timedelta(seconds=5)
    assert probe_wait(99, 0.5) == 24 * _HOUR


def _fail(health: EndpointHealth, *seconds: float, is_first: bool = True) -> EndpointHealth:
    for second in seconds:
        health = after_failure(health, at(second), is_first=is_first)
    return health


def test_the_circuit_opens_after_five_events_and_a_minute() -> None:
    """Five events in a row fail over at least a minute; fewer or quicker ones do not suffice."""
    assert _fail(EndpointHealth(), 0, 1, 2, 3, 59).open_since is None
    assert _fail(EndpointHealth(), 0, 30, 60, 90).open_since is None
    assert _fail(EndpointHealth(), 0, 1, 2, 3, 60).open_since == at(60)
    assert _fail(EndpointHealth(), 0, 1, 2, 3, 59, 61).open_since == at(61)


def test_one_event_alone_does_not_open_the_circuit() -> None:
    once = _fail(EndpointHealth(), 0)
    assert _fail(once, 100, 200, 300, 400, 500, is_first=False).open_since is None


def test_a_success_ends_the_row() -> None:
    """After a success the count and the time of failures start anew, and the circuit closes."""
    opened = _fail(EndpointHealth(), 0, 1, 2, 3, 60)
    assert must_wait(opened)
    closed = after_success(replace(opened, drain_until=at(99)))
    assert closed == EndpointHealth(drain_until=at(99))
    assert not must_wait(closed)


def test_more_failures_of_an_open_circuit_change_nothing() -> None:
    opened = _fail(EndpointHealth(), 0, 1, 2, 3, 60)
    assert after_failure(opened, at(70), is_first=True) is opened


def test_five_days_of_failures_disable_the_endpoint() -> None:
    failing = EndpointHealth(failing_since=NOW, failures=5, open_since=at(60))
    day = 24 * 3600
    assert _fail(failing, 5 * day - 1).disabled_at is None
    disabled = _fail(failing, 5 * day)
    assert (disabled.disabled_at, disabled.disabled_for) == (at(5 * day), "failing")
    assert after_success(disabled) is disabled
    assert must_wait(disabled)
