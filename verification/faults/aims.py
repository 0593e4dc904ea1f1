"""Runs that are aimed at one kind of mistake."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from verification.faults import runs
from verification.faults.acceptance_runs import late_writes, stalled_acceptors, takeovers
from verification.faults.random_schedules import bursts
from verification.faults.received_runs import PATHS as RECEIVED_PATHS
from verification.faults.received_runs import received_runs, two_receivers
from verification.faults.report import RunResult
from verification.faults.system import System
from verification.faults.webhook_runs import PATHS as WEBHOOK_PATHS
from verification.faults.webhook_runs import refused_tasks

#: Each with a path of its own kind.
_OF_PATHS: Final[Mapping[str, Callable[[System, Any], Iterator[RunResult]]]] = {
    "late writes": late_writes,
    "stalled acceptors": stalled_acceptors,
    "takeovers": takeovers,
    "late events": runs.late_events,
    "listed late": runs.listed_late,
    "dying event workers": runs.dying_event_workers,
    "dead letters": runs.dead_letters,
    "quiet service": runs.quiet_service,
    "paused writes": runs.paused_writes,
    "refused tasks": refused_tasks,
    "received": received_runs,
    "two receivers": two_receivers,
}
#: By name; the runs of an aim at a call take any path of mail.
PATHS: Final = {path.name: path for path in (*runs.PATHS, *WEBHOOK_PATHS, *RECEIVED_PATHS)}


def aimed_runs(system: System, aim: str, path: str) -> Iterator[RunResult]:
    """Run what an aim is: `bursts`, one of those above, or every fault at a path's first call.

    Raises:
        KeyError: there is no such aim or path.
    """
    if aim == "bursts":
        return bursts(system)
    if "." in aim:
        return runs.at_first_call(system, PATHS[path], aim)  # type: ignore[arg-type]
    return _OF_PATHS[aim](system, PATHS[path])
