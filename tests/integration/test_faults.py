"""Promises 1 to 4 on a real engine: a few runs of each kind, where `make faults` has thousands."""

from collections.abc import Iterator
from itertools import islice

import pytest

from verification.faults.engine import running
from verification.faults.process_exits import EXITS, real_processes
from verification.faults.random_schedules import random_schedules
from verification.faults.received_runs import PATHS as RECEIVED_PATHS
from verification.faults.received_runs import received_runs
from verification.faults.report import report
from verification.faults.runs import PATHS, random_faults
from verification.faults.statistics_runs import statistics_runs
from verification.faults.system import System
from verification.faults.webhook_runs import random_webhook_faults


# Per module: while it exists, this whole process talks to the engine.
@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """Return the service on its own engine."""
    with running(tmp_path_factory.mktemp("engine")) as system:
        yield system


def test_one_fault_breaks_no_promise(system: System) -> None:
    """A random fault at a random call breaks no promise: lost 0, doubled 0, stuck 0."""
    assert not report("one fault", islice(random_faults(system, seed=20261121), 6))


def test_processes_that_exit_break_no_promise(system: System) -> None:
    """If a process of the operating system ends by os._exit at a call, no promise breaks."""
    with real_processes(system, PATHS[:1]):  # two runs need no practice on each path
        runs = islice(random_faults(system, seed=20261121, faults=EXITS), 2)
        totals = report("real exits", runs)
    assert totals.faults
    assert not totals


def test_many_faults_at_once_break_no_promise(system: System) -> None:
    """Random faults, pauses, copies and lost events give lost 0, doubled 0, stuck 0."""
    assert not report("random", islice(random_schedules(system, seed=1), 1))


def test_statistics_end_exact(system: System) -> None:
    assert not report("statistics", islice(statistics_runs(system, every=101), 3))


def test_a_fault_loses_no_webhook(system: System) -> None:
    totals = report("webhooks", islice(random_webhook_faults(system, seed=20261122), 4))
    assert totals.verdict.accepted >= 5
    assert not totals


def test_a_fault_loses_no_received_mail(system: System) -> None:
    totals = report("received", islice(received_runs(system, RECEIVED_PATHS[0], every=17), 5))
    assert totals.verdict.accepted == 5
    assert not totals
