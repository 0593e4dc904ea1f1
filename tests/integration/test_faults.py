"""Promises 1, 2, 3 and 4 on a real engine, in a minute. `make faults` runs the same for longer.

Only `make faults` looks for the known bugs that a single fault cannot show.
"""

from collections.abc import Iterator

import pytest

from verification.faults.engine import running
from verification.faults.known_bugs import AIMS, first_failure
from verification.faults.process_exits import EXITS, real_processes
from verification.faults.report import report
from verification.faults.runs import at_random_from, sampled, within
from verification.faults.statistics_runs import counted
from verification.faults.system import System

#: Seconds of each; the long run takes every fault, and as many schedules as ten minutes allow.
_SECONDS = 12


# Per module: while it exists, this whole process talks to the engine.
@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """The service on an engine of its own."""
    with running(tmp_path_factory.mktemp("engine")) as system:
        yield system


def test_one_fault_breaks_no_promise(system: System) -> None:
    """A fault at a call of a path, drawn from all: lost 0, doubled 0, stuck 0."""
    assert not report("one fault", within(_SECONDS, sampled(system, seed=20261121)))


def test_processes_that_really_end_break_no_promise(system: System) -> None:
    """Each process is one of the operating system's, and one ends at a call by os._exit."""
    with real_processes(system):
        runs = within(_SECONDS / 2, sampled(system, seed=20261121, faults=EXITS))
        told = report("real exits", runs)
    assert told.faults
    assert not told


def test_many_faults_at_once_break_no_promise(system: System) -> None:
    """Faults, pauses, copies and lost events in random schedules: lost 0, doubled 0, stuck 0."""
    assert not report("random", within(_SECONDS, at_random_from(system, seed=1)))


def test_statistics_end_exact(system: System) -> None:
    """A fault at a call of the statistics: each change is counted once, when it comes again."""
    assert not report("statistics", within(_SECONDS, counted(system, every=101)))


@pytest.mark.parametrize("name", AIMS)
def test_a_known_bug_is_caught(system: System, name: str) -> None:
    """What is simpler than the protocol breaks a promise, and the harness sees it."""
    assert first_failure(system, name)
