"""A short form of verification/webhooks: random histories."""

import pytest

from verification.webhooks.random_runs import Verdict, run

pytestmark = pytest.mark.slow
_MAILS = 6


@pytest.mark.parametrize("disturbed", [False, True])
def test_random_histories_lose_no_event(disturbed: bool) -> None:  # noqa: FBT001
    verdicts = [run(seed, _MAILS, disturbed=disturbed) for seed in range(4)]
    assert sum(verdict.events for verdict in verdicts) > 300
    assert [v for v in verdicts if v != Verdict(v.events, v.repeated)] == []
