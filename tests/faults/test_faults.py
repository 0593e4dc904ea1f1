"""Promises 1, 2, 3 and 4 on a real engine; `make faults` runs the same for longer.

Known bugs that one fault cannot show are left to it too.
"""

import pytest

from tests.faults.counting import counted
from tests.faults.enumeration import Plan, at_each_call
from tests.faults.exits import EXITS, real_processes
from tests.faults.runs import at_random_from, sampled, within
from tests.faults.seeded import AIMS, caught
from tests.faults.system import System
from tests.faults.telling import MessageCounts, Tried, tell
from tests.faults.verdict import Verdict
from tests.faults.wire import Fault, Kind, Site, Wire

#: Seconds of each; the long run takes every fault, and as many schedules as ten minutes allow.
_SECONDS = 12


def test_one_fault_breaks_no_promise(system: System) -> None:
    """A fault at a call of a path, drawn from all: lost 0, doubled 0, stuck 0."""
    assert not tell("one fault", within(_SECONDS, sampled(system, seed=20261121)))


def test_what_only_a_fault_leads_to_is_struck_too() -> None:
    """A call that comes after a fault alone is tried like others, once, after that fault."""
    wire = Wire(lambda _seconds: None)
    put, commit = Site("sqs.SendMessage", ("accept",)), Site("dynamodb.PutItem", ("accept",))
    refund = Site("dynamodb.UpdateItem", ("refund", "accept"))

    def run(plan: Plan) -> Tried:
        wire.calls[:] = [put, refund] if 0 in plan else [put, commit, *([refund] if plan else [])]
        return Tried(" ".join(map(str, plan)), len(plan), Verdict())

    runs = at_each_call(wire, run, lambda _name: (Fault(Kind.ERROR, "before"),))
    assert [tried.name for tried in runs] == ["", "0", "1", "0 1"]


def test_what_was_tried_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The last line has the sum of all parts; a run that breaks a promise is named."""
    parts = (
        [Tried("seed 1", 3, Verdict(accepted=2)), Tried("seed 2", 1, Verdict(accepted=1, lost=1))],
        [Tried("keyed", 1, Verdict(accepted=1, wrong=1))],
    )
    total = sum((tell("part", part) for part in parts), MessageCounts())
    assert str(total) == "faults tried 5, lost 1, doubled 0, stuck 0"
    assert total
    told = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in told] == [
        "BROKEN seed 2",
        "part",
        "BROKEN keyed",
        "part",
    ]
    assert not MessageCounts(1, 3, Verdict(accepted=2))


def test_processes_that_really_end_break_no_promise(system: System) -> None:
    """Each process is one of the operating system's, and one ends at a call by os._exit."""
    with real_processes(system):
        runs = within(_SECONDS / 2, sampled(system, seed=20261121, faults=EXITS))
        told = tell("real exits", runs)
    assert told.faults
    assert not told


def test_many_faults_at_once_break_no_promise(system: System) -> None:
    """Faults, pauses, copies and lost events in random schedules: lost 0, doubled 0, stuck 0."""
    assert not tell("random", within(_SECONDS, at_random_from(system, seed=1)))


def test_statistics_end_exact(system: System) -> None:
    """A fault at a call of the statistics: each change is counted once, when it comes again."""
    assert not tell("statistics", within(_SECONDS, counted(system, every=101)))


@pytest.mark.parametrize("name", AIMS)
def test_a_known_bug_is_caught(system: System, name: str) -> None:
    """What is simpler than the protocol breaks a promise, and the harness sees it."""
    assert caught(system, name)
