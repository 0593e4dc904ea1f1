"""How the fault runs choose what to strike, and how they report."""

import pytest

from verification.faults.enumeration import Plan, at_each_call
from verification.faults.report import RunResult
from verification.faults.verdict import Verdict
from verification.faults.wire import Fault, Kind, Site, Wire

pytestmark = pytest.mark.slow


def test_what_only_a_fault_leads_to_is_struck_too() -> None:
    """A call that comes after a fault alone is tried like others, once, after that fault."""
    wire = Wire(lambda _seconds: None)
    put, commit = Site("sqs.SendMessage", ("accept",)), Site("dynamodb.PutItem", ("accept",))
    refund = Site("dynamodb.UpdateItem", ("refund", "accept"))

    def run(plan: Plan) -> RunResult:
        wire.calls[:] = [put, refund] if 0 in plan else [put, commit, *([refund] if plan else [])]
        return RunResult(" ".join(map(str, plan)), len(plan), Verdict())

    runs = at_each_call(wire, run, lambda _name: (Fault(Kind.ERROR, "before"),))
    assert [tried.name for tried in runs] == ["", "0", "1", "0 1"]


def test_only_the_first_and_the_last_call_from_a_place_are_struck() -> None:
    """With `ends_only` the calls in between are left out, and a single call is struck once."""
    wire = Wire(lambda _seconds: None)
    read, put = Site("dynamodb.GetItem", ("post",)), Site("dynamodb.PutItem", ("post",))

    def run(plan: Plan) -> RunResult:
        wire.calls[:] = [read, read, put, read, read]
        return RunResult(" ".join(map(str, plan)), len(plan), Verdict())

    faults = (Fault(Kind.ERROR, "before"),)
    runs = at_each_call(wire, run, lambda _name: faults, ends_only=True)
    assert [tried.name for tried in runs] == ["", "0", "2", "4"]
