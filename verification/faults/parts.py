# ruff: noqa: T201  programs that are run by hand print their results
"""The parts of `python -m verification.faults`, each in a process of its own."""

import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from verification.faults import runs, webhook_runs
from verification.faults.acceptance_runs import acceptance_runs
from verification.faults.engine import running
from verification.faults.known_bugs import BUGS, first_failure
from verification.faults.process_exits import exits, first_failure_by_exit
from verification.faults.random_schedules import random_schedules
from verification.faults.report import RunResult, Totals, report
from verification.faults.statistics_runs import statistics_runs
from verification.faults.system import System
from verification.kills import run as kills


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    parts: Sequence[str]
    paths: Sequence[runs.Path]
    seconds: float
    seed: int
    client: str


def run_part(part: str, options: Options) -> tuple[bool, Totals]:
    """Run one part and print its lines; return whether a known bug was missed, and the sums."""
    # An exit through `SystemExit` also ends what was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if part == "kills":
        return False, report(part, iter([kills.run(kills.Options())]))
    with (
        tempfile.TemporaryDirectory(prefix="faults-") as state,
        running(Path(state), options.client) as system,
    ):
        if part == "bugs":
            return not print_bugs(system), Totals()
        total = Totals()
        for name, runs_of_part in runs_by_name(system, part, options):
            total += report(name, runs_of_part)
        return False, total


def runs_by_name(
    system: System, part: str, options: Options
) -> Iterator[tuple[str, Iterator[RunResult]]]:
    """Yield the runs of a part, in groups with a name."""
    match part:
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
        case "exits":
            yield part, exits(system, options.paths)
        case "random":
            schedules = random_schedules(system, options.seed)
            yield f"random, from seed {options.seed}", runs.within(options.seconds, schedules)


def print_bugs(system: System) -> bool:
    """Print the run that catches each known bug; return False if a bug is missed."""
    hunts: dict[str, Callable[[], RunResult | None]] = {
        name: partial(first_failure, system, name) for name in BUGS
    }
    hunts["enqueue after commit, by a real exit"] = partial(first_failure_by_exit, system)
    caught = 0
    for name, find in hunts.items():
        run = find()
        caught += run is not None
        print(f"{name}: {f'{run.name}: {run.verdict}' if run else 'NOT CAUGHT'}", flush=True)
    print(f"bugs: caught {caught} of {len(hunts)}", flush=True)
    return caught == len(hunts)
