"""A short form of verification/webhooks: random histories, and bugs that they find."""

import pytest

from verification.webhooks.known_bugs import KNOWN_BUGS
from verification.webhooks.random_runs import Verdict, run

_MAILS = 6


def _first_wrong(seeds: int) -> str:
    for seed in range(seeds):
        for disturbed in (False, True):
            try:
                verdict = run(seed, _MAILS, disturbed=disturbed)
            except AssertionError as error:  # the tasks never end
                return str(error)
            if verdict.wrong:
                return verdict.wrong
    return ""


@pytest.mark.parametrize("disturbed", [False, True])
def test_random_histories_lose_no_event(disturbed: bool) -> None:  # noqa: FBT001
    """Each event arrives at least once, and without faults exactly once."""
    verdicts = [run(seed, _MAILS, disturbed=disturbed) for seed in range(6)]
    assert sum(verdict.events for verdict in verdicts) > 500
    assert [v for v in verdicts if v != Verdict(v.events, v.repeated)] == []


@pytest.mark.parametrize("bug", KNOWN_BUGS)
def test_random_histories_find_known_bugs(bug: str) -> None:
    """Each bug that was seeded breaks a promise in one of a few histories."""
    with KNOWN_BUGS[bug]():
        assert _first_wrong(20)
