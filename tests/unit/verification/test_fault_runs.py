"""How the fault runs choose what to strike, and how they report."""

import pytest

from verification.faults.enumeration import Plan, at_each_call
from verification.faults.report import RunResult
from verification.faults.verdict import Verdict
from verification.faults.wire import Fault, Kind, Site, Wire

pytestmark = pytest.mark.slow


def named(plan: Plan) -> str:
    """Return the calls of a plan, each with how many came from its place before it."""
    names = [(key, 0) if isinstance(key, int) else (key[0].name, key[1]) for key in plan]
    return ", ".join(f"{str(name).rpartition('.')[2]} {nth}" for name, nth in names)


def test_what_only_a_fault_leads_to_is_struck_too() -> None:
    """A call that comes after a fault alone is tried like others, once, after that fault."""
    wire = Wire(lambda _seconds: None)
    put, commit = Site("sqs.SendMessage", ("accept",)), Site("dynamodb.PutItem", ("accept",))
    refund = Site("dynamodb.UpdateItem", ("refund", "accept"))

    def run(plan: Plan) -> RunResult:
        fails = (put, 0) in plan
        wire.calls[:] = [put, refund] if fails else [put, commit, *([refund] if plan else [])]
        return RunResult(named(plan), len(plan), Verdict())

    runs = at_each_call(wire, run, lambda _name: (Fault(Kind.ERROR, "before"),))
    assert [tried.name for tried in runs] == [
        "",
        "SendMessage 0",
        "PutItem 0",
        "SendMessage 0, UpdateItem 0",
    ]


def test_only_the_first_and_the_last_call_from_a_place_are_struck() -> None:
    """With `ends_only` the calls in between are left out, and a single call is struck once."""
    wire = Wire(lambda _seconds: None)
    read, put = Site("dynamodb.GetItem", ("post",)), Site("dynamodb.PutItem", ("post",))

    def run(plan: Plan) -> RunResult:
        wire.calls[:] = [read, read, put, read, read]
        return RunResult(named(plan), len(plan), Verdict())

    faults = (Fault(Kind.ERROR, "before"),)
    runs = at_each_call(wire, run, lambda _name: faults, ends_only=True)
    assert [tried.name for tried in runs] == ["", "GetItem 0", "PutItem 0", "GetItem 3"]


def test_a_fault_strikes_its_place_in_a_run_that_has_more_calls_before_it() -> None:
    """A plan names the second read, and that is struck whatever other calls the run makes."""
    wire = Wire(lambda _seconds: None)
    read, put = Site("dynamodb.GetItem", ("post",)), Site("dynamodb.PutItem", ("post",))
    fault = Fault(Kind.ERROR, "before")
    for calls in ([read, read], [put, put, read, put, read]):
        wire.plant({(read, 1): fault})
        struck = [wire.plan(number, site) for number, site in enumerate(calls)]
        assert struck == [*[None] * (len(calls) - 1), fault]
