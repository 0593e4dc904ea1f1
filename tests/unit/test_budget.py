"""A unit test that takes too much processor time fails, and one that seemed to does not."""

from types import SimpleNamespace
from unittest import mock

from tests import budget
from tests.loops import for_each


@for_each(
    ("asked", "runs", "work", "outcome"),
    [
        ("not slow", [0.25], 0.04, "passed"),
        ("not slow", [0.9, 0.9, 0.2], 0.04, "passed"),
        ("not slow", [0.9, 0.3, 0.3], 0.04, "failed"),
        ("not slow", [0.9, 0.45], 0.08, "passed"),  # on a slow machine
        ("", [1.0], 0.04, "passed"),
        ("", [1.9, 1.9, 1.1], 0.04, "failed"),
    ],
)
def test_the_last_of_three_runs_decides(
    asked: str, runs: list[float], work: float, outcome: str
) -> None:
    report, item = SimpleNamespace(when="call", passed=True, outcome="passed"), mock.Mock()
    item.config.option.markexpr = asked
    run = mock.Mock(side_effect=[(seconds, [report]) for seconds in runs])
    with mock.patch.multiple(budget, _run=run, _seconds_of_known_work=lambda: work):
        budget.run_within_budget(item, None)
    assert (report.outcome, run.call_count) == (outcome, len(runs))
