"""The processor time that a unit test may take unless it is marked `slow`."""

import sys
import time
from pathlib import Path
from typing import Final

import pytest
from _pytest.runner import runtestprotocol

from tests.examples import DEEP

_FOLDER: Final = Path(__file__).with_name("unit")
#: Seconds of processor time, on a machine that counts as fast as `_REFERENCE` says.
BUDGET: Final = 0.25
#: So many times the budget is allowed beside other processes, which make all tests slower.
_BESIDE_OTHERS: Final = 4
_RUNS: Final = 3
#: Seconds of processor time that `_seconds_of_known_work` takes on an idle machine.
_REFERENCE: Final = 0.04


def run_within_budget(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Run a test, and fail it if it exceeds the budget.

    `make quick` enforces the exact budget, other runs allow four times as much. A slow machine, on
    which known work takes longer, has a larger budget. A test that exceeds it runs again, twice at
    most: the first run may import modules, and a busy machine has moments.
    """
    tolerance = 1 if item.config.option.markexpr == "not slow" else _BESIDE_OTHERS
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for _ in range(_RUNS):
        seconds, reports = _run(item, nextitem)
        budget = BUDGET * tolerance
        if seconds > budget:
            budget *= max(1, _seconds_of_known_work() / _REFERENCE)
        if seconds <= budget or not all(report.passed for report in reports):
            break
    if seconds > budget and all(report.passed for report in reports):
        call = next(report for report in reports if report.when == "call")
        call.outcome = "failed"
        call.longrepr = (
            f"This test took {seconds:.2f} s of processor time, and {budget:.2f} s are allowed"
            " here. Make it cheaper, or mark it `slow`: `make quick` leaves it out then."
        )
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def has_budget(item: pytest.Item) -> bool:
    """Whether the budget applies: not to a slow test, in a deep run, or while a debugger traces."""
    return (
        _FOLDER in item.path.parents
        and item.get_closest_marker("slow") is None
        and not DEEP
        and sys.gettrace() is None
    )


def _run(item: pytest.Item, nextitem: pytest.Item | None) -> tuple[float, list[pytest.TestReport]]:
    """Return the processor time of a run of a test with its set-up, and its reports."""
    start = time.process_time()
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    return time.process_time() - start, reports


def _seconds_of_known_work() -> float:
    start = time.process_time()
    _ = {str(number): [number] for number in range(100_000)}
    return time.process_time() - start
