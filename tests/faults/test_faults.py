"""Promises 1, 2, 3 and 4 on a real engine; `make faults` runs the same for longer.

Known bugs that one fault cannot show are left to it too.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from pillarbox.application.statistics import Aggregation, Taken
from tests.faults.__main__ import tell
from tests.faults.counting import counted
from tests.faults.exits import EXITS, real_processes
from tests.faults.runs import at_random_from, one_by_one, sampled, within
from tests.faults.seeded import AIMS, caught
from tests.faults.system import System

#: Seconds of each of the two; the long run takes every fault and a thousand schedules.
_SECONDS = 12


def test_one_fault_breaks_no_promise(system: System) -> None:
    """A fault at a call of a path, drawn from all: lost 0, doubled 0, stuck 0."""
    assert tell("one fault", within(_SECONDS, sampled(system, seed=20261121))) == 0


def test_processes_that_really_end_break_no_promise(system: System) -> None:
    """Each process is one of the operating system's, and one ends at a call by os._exit."""
    next(one_by_one(system))  # what they need is made once, before they part
    with real_processes(system):
        runs = list(within(_SECONDS / 2, sampled(system, seed=20261121, faults=EXITS)))
    assert tell("real exits", runs) == 0
    assert any(run.faults for run in runs)


def test_many_faults_at_once_break_no_promise(system: System) -> None:
    """Faults, pauses, copies and lost events in random schedules: lost 0, doubled 0, stuck 0."""
    assert tell("random", within(_SECONDS, at_random_from(system, seed=1))) == 0


def test_statistics_end_exact(system: System) -> None:
    """A fault at a call of the statistics: each change is counted once, when it comes again."""
    assert tell("statistics", within(_SECONDS, counted(system, every=101))) == 0


def test_changes_that_are_forgotten_are_seen(system: System) -> None:
    """Statistics that do not ask again for what they could not take are caught."""
    take = Aggregation.take

    def forgetful(self: Aggregation[Any], records: Sequence[Any]) -> Taken:
        return replace(take(self, records), again=None)

    with mock.patch.object(Aggregation, "take", forgetful):
        assert any(run.verdict.wrong for run in counted(system))


@pytest.mark.parametrize("name", AIMS)
def test_a_known_bug_is_caught(system: System, name: str) -> None:
    """What is simpler than the protocol breaks a promise, and the harness sees it."""
    assert caught(system, name)
