"""The processor time that a unit test or a check may take unless it is marked `slow`."""

import sys
import time
from pathlib import Path
from typing import Final

import pytest
from _pytest.runner import runtestprotocol

_FOLDERS: Final = [Path(__file__).with_name(name) for name in ("unit", "checks")]
#: Seconds of processor time, on a machine that counts as fast as `_REFERENCE` says.
BUDGET: Final = 0.25
_COUNT: Final = 300_000
#: Seconds of processor time that `_seconds_to_count` takes on an idle machine.
_REFERENCE: Final = 0.005


def run_within_budget(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Run a test, and fail it if it exceeds the budget.

    A test that exceeds it runs once more, because the first run of a process may import modules. A
    slow or busy machine, on which counting takes longer, has a larger budget.
    """
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    seconds, reports = _run(item, nextitem)
    if seconds > BUDGET and all(report.passed for report in reports):
        slowness = _seconds_to_count()
        seconds, reports = _run(item, nextitem)
        budget = BUDGET * max(1, slowness / _REFERENCE, _seconds_to_count() / _REFERENCE)
        if seconds > budget:
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
    """Whether the budget applies: not to a slow test, and not while a debugger traces."""
    return (
        any(folder in item.path.parents for folder in _FOLDERS)
        and item.get_closest_marker("slow") is None
        and sys.gettrace() is None
    )


def _run(item: pytest.Item, nextitem: pytest.Item | None) -> tuple[float, list[pytest.TestReport]]:
    """Return the processor time of a run of a test with its set-up, and its reports."""
    start = time.process_time()
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    return time.process_time() - start, reports


def _seconds_to_count() -> float:
    start = time.process_time()
    for _ in range(_COUNT):
        pass
    return time.process_time() - start
