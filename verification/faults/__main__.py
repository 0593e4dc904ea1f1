# ruff: noqa: T201  a program that is run by hand prints its results
"""The long run (`make faults`): every fault at every call of every path, then random schedules.

It prints, for each part and in total, how much was tried and which promises broke. A failure
names the arguments that repeat it. The parts, in this order:

* bugs: known bugs, each of which must be caught.
* calls: every fault at every call of each path of a mail.
* statistics: every fault at every call of the function that counts mail.
* exits: processes that end by `os._exit`, at each call of both.
* random: schedules of faults, pauses, copies and lost events, one for each seed.
* kills: killed processes of a running local stack (`verification/kills`).

Two parts run at a time, each on its own engine, so the longest ones start first. Each line of
the output belongs to one part; the last line sums up all of them.
"""

import argparse
import multiprocessing
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from verification.faults import runs
from verification.faults.engine import running
from verification.faults.known_bugs import BUGS, first_failure
from verification.faults.process_exits import exits, first_failure_by_exit
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


#: The longest ones first.
_PARTS: Final = ("calls", "statistics", "exits", "kills", "random", "bugs")
#: One for each core.
_PARTS_AT_A_TIME: Final = 2


def main() -> int:
    """Return 1 if a promise was broken or a known bug was missed."""
    options = _read()
    signal.signal(signal.SIGTERM, _end_parts)
    missed, total = False, Totals()
    chosen = [part for part in _PARTS if part in options.parts]
    with ProcessPoolExecutor(
        _PARTS_AT_A_TIME, multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as processes:
        for part in as_completed([processes.submit(run_part, part, options) for part in chosen]):
            part_missed, part_total = part.result()
            missed, total = missed or part_missed, total + part_total
    print(total, flush=True)
    return int(missed or bool(total))


def _end_parts(*_: object) -> None:
    for part in multiprocessing.active_children():
        part.terminate()
    sys.exit(1)


def run_part(part: str, options: Options) -> tuple[bool, Totals]:
    """Run one part and print its lines; return whether a known bug was missed, and the sums."""
    # An exit through `SystemExit` also ends what was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if part == "kills":
        return False, report(part, iter([kills.run(kills.Options())]))
    with (
        tempfile.TemporaryDirectory(prefix="faults-") as state,
        running(Path(state)) as system,
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
        case "statistics":
            yield part, statistics_runs(system)
        case "exits":
            yield part, exits(system, options.paths)
        case "random":
            schedules = runs.random_schedules(system, options.seed)
            yield f"random, from seed {options.seed}", runs.within(options.seconds, schedules)


def _read() -> Options:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [path.name for path in runs.PATHS]
    parser.add_argument("parts", nargs="*", metavar="PART", help="run only these parts")
    parser.add_argument(
        "--path", action="append", choices=names, help="run only this path in calls and exits"
    )
    parser.add_argument("--seconds", type=float, default=600, help="how long random schedules run")
    parser.add_argument(
        "--seed", type=int, default=1, help="of the first schedule; --seconds 0 runs only that one"
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(_PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    paths = [path for path in runs.PATHS if path.name in (arguments.path or names)]
    return Options(arguments.parts or _PARTS, paths, arguments.seconds, arguments.seed)


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


if __name__ == "__main__":
    sys.exit(main())
