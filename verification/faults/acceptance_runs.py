"""Runs of accepting: owners that stall and are taken over, and writes that take effect late."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from verification.faults.enumeration import UNDISTURBED
from verification.faults.report import RunResult
from verification.faults.runs import Path, run
from verification.faults.system import System
from verification.faults.wire import Fault, Kind, Site

_LATE: Final = Fault(Kind.LATE, "after", lasting=True)
_KILLS: Final = (Fault(Kind.KILL, "before"), Fault(Kind.KILL, "after"))
#: Seconds until a late write takes effect: before the client tries again, and long after that.
_DELAYS: Final = (0.5, 90.0)
#: Seconds, longer than the first try pauses.
_AFTER_ALL: Final = 300.0
#: How many calls after a late write the process may be killed.
_CALLS_AFTER: Final = 3
#: The calls that put a job into its queue.
_QUEUED: Final = frozenset({"sqs.SendMessage", "sqs.SendMessageBatch"})
#: Seconds that an acceptor stalls: around the time that it has for its commit, and far longer.
_STALLS: Final = (540.0, 660.0, 1_200.0, 7_200.0)
_WRITES: Final = frozenset(
    f"dynamodb.{name}" for name in ("BatchExecuteStatement", "DeleteItem", "PutItem", "UpdateItem")
)


def acceptance_runs(system: System, path: Path) -> Iterator[RunResult]:
    """Run a path with each takeover and each late write."""
    yield from stalled_acceptors(system, path)
    yield from late_writes(system, path)
    if path.keyed:
        yield from takeovers(system, path)


def stalled_acceptors(system: System, path: Path) -> Iterator[RunResult]:
    """Run a path whose acceptor stalls after its job is queued, or before its record is put."""
    yield run(system, path, UNDISTURBED)
    names = [site.name for site in system.wire.calls]
    queued = next(position for position, name in enumerate(names) if name in _QUEUED)
    for seconds in _STALLS:

        def stall(name: str, seconds: float = seconds) -> None:
            process = system.process
            if process and not process.paused and name in _QUEUED:
                system.pause(seconds)

        with system.disturbed(on_call=stall):
            yield run(system, path, UNDISTURBED)
        yield run(system, path, UNDISTURBED, pause_at=queued + 1, pause=seconds)


def takeovers(system: System, path: Path) -> Iterator[RunResult]:
    """Pause the first try at each of its calls, beyond its lease; kill the second at each of its.

    The client tries again meanwhile, and another one after that. The commit comes first, as it
    shows most.
    """
    yield run(system, path, UNDISTURBED)
    for position, site in reversed([*enumerate(system.wire.calls)]):
        if not _accepts(site):
            continue
        paused = partial(run, system, path, pause_at=position, again_after=_AFTER_ALL)
        yield paused(plan=UNDISTURBED)
        for number, later in [*enumerate(system.wire.calls)][position + 1 :]:
            if _accepts(later):
                for kill in _KILLS:
                    yield paused(plan={number: kill})


def late_writes(system: System, path: Path) -> Iterator[RunResult]:
    """Let each write fail and take effect later, and kill its process at one of its next calls."""
    yield run(system, path, UNDISTURBED)
    for number, site in reversed([*enumerate(system.wire.calls)]):
        if not _accepts(site) or site.name not in _WRITES:
            continue
        for seconds in _DELAYS:
            with system.disturbed(late_by=seconds):
                yield run(system, path, {number: _LATE})
                for after in range(1, _CALLS_AFTER + 1):
                    yield run(system, path, {number: _LATE, number + after: _KILLS[0]})


def _accepts(site: Site) -> bool:
    """Return whether a call belongs to accepting."""
    return any("sending" in caller or "submit" in caller for caller in site.callers)
