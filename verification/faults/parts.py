"""The parts of `python -m verification.faults`, each in a process of its own."""

import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verification.faults import received_runs, runs, webhook_runs
from verification.faults.acceptance_runs import acceptance_runs
from verification.faults.aims import aimed_runs
from verification.faults.engine import running
from verification.faults.process_exits import exits
from verification.faults.random_schedules import random_schedules
from verification.faults.report import RunResult, Totals, report
from verification.faults.statistics_runs import statistics_runs
from verification.faults.system import System
from verification.kills import run as kills


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    parts: Sequence[str]
    paths: Sequence[Any]
    seconds: float
    seed: int
    client: str
    aim: str
    first: bool


def run_part(part: str, options: Options) -> Totals:
    """Run one part and print its lines; return the sums."""
    # An exit through `SystemExit` also ends what was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if part == "kills":
        return report(part, iter([kills.run(kills.Options())]))
    with (
        tempfile.TemporaryDirectory(prefix="faults-") as state,
        running(Path(state), options.client) as system,
    ):
        total = Totals()
        for name, runs_of_part in runs_by_name(system, part, options):
            total += report(
                name, _to_first_failure(runs_of_part) if options.first else runs_of_part
            )
            if options.first and total:
                break
        return total


def _to_first_failure(runs_of_part: Iterator[RunResult]) -> Iterator[RunResult]:
    for one in runs_of_part:
        yield one
        if one.verdict:
            return


def runs_by_name(  # noqa: C901  a case for each part
    system: System, part: str, options: Options
) -> Iterator[tuple[str, Iterator[RunResult]]]:
    """Yield the runs of a part, in groups with a name."""
    match part:
        case "aim":
            for path in options.paths:
                yield f"{options.aim}, {path.name}", aimed_runs(system, options.aim, path.name)
        case "calls":
            yield from runs.path_by_path(system, options.paths)
        case "accepting":
            for accepting in options.paths:
                yield accepting.name, acceptance_runs(system, accepting)
        case "statistics":
            yield part, statistics_runs(system)
        case "webhooks":
            for path in webhook_runs.PATHS:
                yield path.name, webhook_runs.webhook_runs(system, path)
        case "received":
            for received in received_runs.PATHS:
                yield received.name, received_runs.received_runs(system, received)
            twice = received_runs.PATHS[1]
            yield "received, by two at once", received_runs.two_receivers(system, twice)
        case "exits":
            yield part, exits(system, options.paths)
        case "random":
            schedules = random_schedules(system, options.seed)
            yield f"random, from seed {options.seed}", runs.within(options.seconds, schedules)
