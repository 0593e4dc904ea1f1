"""A short form of verification/schedule: races around one message."""

import pytest

from tests.loops import for_each
from verification.schedule.races import SCENARIOS, Scenario, explore

pytestmark = pytest.mark.slow
#: Two processes of one kind, and a kill after a switch, make most of the runs: `python -m
#: verification.schedule` has them.
_SHORT = [one for one in SCENARIOS if len({*one.processes}) == len(one.processes)]


@for_each("scenario", _SHORT)
def test_no_order_breaks_a_promise(scenario: Scenario) -> None:
    """Lost, doubled, early, sent after a cancel, a revocation or an erasure: 0 each."""
    races = [
        *explore(scenario, switches=1, kills=0),
        *explore(scenario, switches=0, kills=1),
    ]
    assert len(races) > 10
    assert [race.wrong for race in races if race.wrong] == []
