"""A unit test that takes too much processor time fails, and one that seemed to does not."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests import budget


@pytest.mark.parametrize(
    ("asked", "runs", "work", "outcome"),
    [
        ("not slow", [0.2], 0.04, "passed"),
        ("not slow", [0.9, 0.2], 0.04, "passed"),
        ("not slow", [0.9, 0.9, 0.2], 0.04, "passed"),
        ("not slow", [0.9, 0.3, 0.3], 0.04, "failed"),
        ("not slow", [0.9, 0.45], 0.08, "passed"),
        ("not slow", [0.9, 0.9, 0.9], 0.08, "failed"),
        ("", [0.9], 0.04, "passed"),
        ("", [1.9, 1.9, 1.1], 0.04, "failed"),
        ("", [2.9, 1.9], 0.08, "passed"),
    ],
)
def test_the_last_of_three_runs_decides(
    asked: str, runs: list[float], work: float, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test over 0.25 s runs again, twice at most; a slow machine has a larger budget.

    Only `make quick`, which asks for what is not slow, is that strict: others allow a second.
    """
    left = iter(runs)
    logged: list[Any] = []

    def log(report: Any) -> None:
        logged.append(report)

    monkeypatch.setattr(budget, "_seconds_of_known_work", lambda: work)
    monkeypatch.setattr(
        budget,
        "_run",
        lambda *_: (next(left), [SimpleNamespace(when="call", passed=True, outcome="passed")]),
    )
    hooks = SimpleNamespace(
        pytest_runtest_logstart=lambda **_: None,
        pytest_runtest_logfinish=lambda **_: None,
        pytest_runtest_logreport=log,
    )
    config = SimpleNamespace(option=SimpleNamespace(markexpr=asked))
    item: Any = SimpleNamespace(nodeid="test", location=("", 0, ""), ihook=hooks, config=config)
    budget.run_within_budget(item, None)
    assert [report.outcome for report in logged] == [outcome]
    assert list(left) == []
