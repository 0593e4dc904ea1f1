"""The model of SQS's fair queues, by the thresholds of its developer guide (2026-11)."""

from datetime import datetime, timedelta

import pytest

from tests.fakes import builders
from tests.fakes.simulation import Fairness


class _Clock:
    def __init__(self) -> None:
        self.now = builders.NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.mark.parametrize(
    ("own", "others", "is_noisy"),
    [(29, 0, False), (30, 0, True), (30, 270, False), (31, 270, True)],
)
def test_a_group_with_many_messages_in_flight_is_noisy(
    own: int, others: int, *, is_noisy: bool
) -> None:
    """It has at least 30 of them, and more than a tenth of all."""
    in_flight = {"loud": own, "others": others}
    assert Fairness(_Clock()).order(["loud"], in_flight)("loud")[0] is is_noisy


@pytest.mark.parametrize(("others", "is_noisy"), [(9, False), (8, True)])
def test_a_group_that_takes_time_is_noisy_until_its_backlog_is_empty(
    others: int, *, is_noisy: bool
) -> None:
    """It takes more than a tenth of the consumers' time, though with one message in flight."""
    clock = _Clock()
    fairness = Fairness(clock)
    clock.now += timedelta(seconds=10)
    in_flight = {"slow": 1, "others": others}
    fairness.note(in_flight)
    assert fairness.order(["slow"], in_flight)("slow") == (is_noisy, int(is_noisy))
    fairness.order([], in_flight)
    assert fairness.order(["slow"], in_flight)("slow") == (False, 0)
