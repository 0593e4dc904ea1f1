"""How long mail waits for SES: a short form of benchmarks/latency.py."""

import pytest

from benchmarks.latency import few_results

pytestmark = pytest.mark.slow


def test_every_goal_is_reached() -> None:
    """On a simulated clock codes and mail wait no longer than the goals allow."""
    reached = list(few_results())
    assert len(reached) == 16
    assert [result for result in reached if not result.met] == []
