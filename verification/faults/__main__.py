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
"""

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
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


_PARTS: Final = ("bugs", "calls", "statistics", "exits", "random", "kills")


def main() -> int:
    """Return 1 if a promise was broken or a known bug was missed."""
    options = _read()
    # An exit through `SystemExit` also ends what was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    missed, total = False, Totals()
    with (
        tempfile.TemporaryDirectory(prefix="faults-") as state,
        running(Path(state)) as system,
    ):
        if "bugs" in options.parts:
            missed = not print_bugs(system)
        for name, part in parts_on_engine(system, options):
            total += report(name, part)
    if "kills" in options.parts:
        total += report("kills", iter([kills.run(kills.Options())]))
    print(total, flush=True)
    return int(missed or bool(total))


def parts_on_engine(system: System, options: Options) -> Iterator[tuple[str, Iterator[RunResult]]]:
    """Return the parts that run in this process, by name."""
    if "calls" in options.parts:
        yield from runs.path_by_path(system, options.paths)
    if "statistics" in options.parts:
        yield "statistics", statistics_runs(system)
    if "exits" in options.parts:
        yield "exits", exits(system, options.paths)
    if "random" in options.parts:
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
