"""A short form of verification/schedule: races around one message, and bugs that they find."""

import pytest

from tests.loops import for_each
from verification.schedule.__main__ import find
from verification.schedule.known_bugs import KNOWN_BUGS
from verification.schedule.races import SCENARIOS, Scenario, explore

pytestmark = pytest.mark.slow
#: Two processes of one kind make most of the runs: `python -m verification.schedule` has them.
_SHORT = [one for one in SCENARIOS if len({*one.processes}) == len(one.processes)]


@for_each("scenario", _SHORT)
def test_no_order_breaks_a_promise(scenario: Scenario) -> None:
    """Lost, doubled, early, sent after a cancel, a revocation or an erasure: 0 each."""
    races = [*explore(scenario, switches=1, kills=1)]
    assert len(races) > 15
    assert [race.wrong for race in races if race.wrong] == []


@for_each("bug", KNOWN_BUGS)
def test_races_find_known_bugs(bug: str) -> None:
    """Each bug that was seeded breaks a promise in some order."""
    assert find(bug)
