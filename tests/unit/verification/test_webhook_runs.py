"""A short form of verification/webhooks: random histories, and bugs that they find."""

import pytest

from verification.webhooks.__main__ import find
from verification.webhooks.known_bugs import KNOWN_BUGS
from verification.webhooks.random_runs import Verdict, run

pytestmark = pytest.mark.slow
_MAILS = 6
#: Bugs that the first histories do not find -> the history that does, which saves the others.
_FOUND_IN = {
    "probes_without_a_margin": 30,
    "removes_what_another_put": 14,
    "forgets_the_next_task": 14,
    "circuit_opens_before_its_probe": 4,
    "replays_wait_before_their_record": 3,
}


@pytest.mark.parametrize("disturbed", [False, True])
def test_random_histories_lose_no_event(disturbed: bool) -> None:  # noqa: FBT001
    """Each event arrives at least once, and without faults exactly once."""
    verdicts = [run(seed, _MAILS, disturbed=disturbed) for seed in range(6)]
    assert sum(verdict.events for verdict in verdicts) > 500
    assert [v for v in verdicts if v != Verdict(v.events, v.repeated)] == []


@pytest.mark.parametrize("bug", KNOWN_BUGS)
def test_random_histories_find_known_bugs(bug: str) -> None:
    """Each bug that was seeded breaks a promise in one of forty histories."""
    assert find(bug, 40, _MAILS, _FOUND_IN.get(bug, 0))[0]
