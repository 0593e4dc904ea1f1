# ruff: noqa: T201  a program that is run by hand prints what it found
"""The long run: `make faults`. Every fault at every call of every path, then all at once.

Prints what was tried and what broke, part by part and in all; a failure names what shows it
again. The parts, in this order:

* bugs: known ones, each of which must be caught.
* calls: every fault at every call of the paths that mail takes.
* statistics: every fault at every call of those who count it.
* exits: processes that really end, at each call of both.
* random: schedules of faults, pauses, copies and lost events, each of one seed.
* kills: processes of a running local stack (`verification/kills`).
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
from verification.faults.statistics_runs import counted
from verification.faults.system import System
from verification.kills import run as kills


@dataclass(frozen=True)
class Options:
    """What is asked for."""

    parts: Sequence[str]
    paths: Sequence[runs.Path]
    seconds: float
    seed: int


_PARTS: Final = ("bugs", "calls", "statistics", "exits", "random", "kills")


def main() -> int:
    """Give 1 when a promise was broken, or a known bug was not seen."""
    options = _read()
    # What was started is ended in that case too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    missed, total = False, Totals()
    with (
        tempfile.TemporaryDirectory(prefix="faults-") as state,
        running(Path(state)) as system,
    ):
        if "bugs" in options.parts:
            missed = not show(system)
        for name, part in on_the_engine(system, options):
            total += report(name, part)
    if "kills" in options.parts:
        total += report("kills", iter([kills.run(kills.Options())]))
    print(total, flush=True)
    return int(missed or bool(total))


def on_the_engine(system: System, options: Options) -> Iterator[tuple[str, Iterator[RunResult]]]:
    """What runs in this process, by name."""
    if "calls" in options.parts:
        yield from runs.path_by_path(system, options.paths)
    if "statistics" in options.parts:
        yield "statistics", counted(system)
    if "exits" in options.parts:
        yield "exits", exits(system, options.paths)
    if "random" in options.parts:
        schedules = runs.at_random_from(system, options.seed)
        yield f"random, from seed {options.seed}", runs.within(options.seconds, schedules)


def _read() -> Options:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [path.name for path in runs.PATHS]
    parser.add_argument("parts", nargs="*", metavar="PART", help="only these; all, if none")
    parser.add_argument(
        "--path", action="append", choices=names, help="only this one, of calls and exits"
    )
    parser.add_argument("--seconds", type=float, default=600, help="for the random schedules")
    parser.add_argument(
        "--seed", type=int, default=1, help="of their first; with --seconds 0 that is the only one"
    )
    given = parser.parse_args()
    if unknown := set(given.parts) - set(_PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    paths = [path for path in runs.PATHS if path.name in (given.path or names)]
    return Options(given.parts or _PARTS, paths, given.seconds, given.seed)


def show(system: System) -> bool:
    """Print by which run each known bug is caught; False when one is not."""
    hunts: dict[str, Callable[[], RunResult | None]] = {
        name: partial(first_failure, system, name) for name in BUGS
    }
    hunts["enqueue after commit, by a real exit"] = partial(first_failure_by_exit, system)
    seen = 0
    for name, hunt in hunts.items():
        run = hunt()
        seen += run is not None
        print(f"{name}: {f'{run.name}: {run.verdict}' if run else 'NOT CAUGHT'}", flush=True)
    print(f"bugs: caught {seen} of {len(hunts)}", flush=True)
    return seen == len(hunts)


if __name__ == "__main__":
    sys.exit(main())
