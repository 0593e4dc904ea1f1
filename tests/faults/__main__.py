# ruff: noqa: T201  a program that is run by hand prints what it found
"""The long run: `make faults`. Every fault at every call of every path, then all at once.

Prints what was tried and what broke, part by part and in all; a failure names what shows it
again. The parts, in this order:

* bugs: known ones, each of which must be caught.
* calls: every fault at every call of the paths that mail takes.
* statistics: every fault at every call of those who count it.
* exits: processes that really end, at each call of both.
* random: schedules of faults, pauses, copies and lost events, each of one seed.
* kills: processes of a running local stack (`kill.py`).
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

from tests.faults import kill, runs
from tests.faults.counting import counted
from tests.faults.engine import running
from tests.faults.exits import caught_by_exits, exits
from tests.faults.seeded import BUGS, caught
from tests.faults.system import System
from tests.faults.telling import MessageCounts, Tried, tell


@dataclass(frozen=True)
class Chosen:
    """What is asked for."""

    parts: Sequence[str]
    paths: Sequence[runs.Path]
    seconds: float
    seed: int


_PARTS: Final = ("bugs", "calls", "statistics", "exits", "random", "kills")


def main() -> int:
    """Give 1 when a promise was broken, or a known bug was not seen."""
    chosen = _read()
    # What was started is ended in that case too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    missed, total = False, MessageCounts()
    with (
        tempfile.TemporaryDirectory(prefix="faults-") as state,
        running(Path(state)) as system,
    ):
        if "bugs" in chosen.parts:
            missed = not show(system)
        for name, part in on_the_engine(system, chosen):
            total += tell(name, part)
    if "kills" in chosen.parts:
        total += tell("kills", iter([kill.run(kill.Chosen())]))
    print(total, flush=True)
    return int(missed or bool(total))


def on_the_engine(system: System, chosen: Chosen) -> Iterator[tuple[str, Iterator[Tried]]]:
    """What runs in this process, by name."""
    if "calls" in chosen.parts:
        yield from runs.path_by_path(system, chosen.paths)
    if "statistics" in chosen.parts:
        yield "statistics", counted(system)
    if "exits" in chosen.parts:
        yield "exits", exits(system, chosen.paths)
    if "random" in chosen.parts:
        schedules = runs.at_random_from(system, chosen.seed)
        yield f"random, from seed {chosen.seed}", runs.within(chosen.seconds, schedules)


def _read() -> Chosen:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [path.name for path in runs.PATHS]
    options.add_argument("parts", nargs="*", metavar="PART", help="only these; all, if none")
    options.add_argument(
        "--path", action="append", choices=names, help="only this one, of calls and exits"
    )
    options.add_argument("--seconds", type=float, default=600, help="for the random schedules")
    options.add_argument(
        "--seed", type=int, default=1, help="of their first; with --seconds 0 that is the only one"
    )
    given = options.parse_args()
    if unknown := set(given.parts) - set(_PARTS):
        options.error(f"no such part: {', '.join(sorted(unknown))}")
    paths = [path for path in runs.PATHS if path.name in (given.path or names)]
    return Chosen(given.parts or _PARTS, paths, given.seconds, given.seed)


def show(system: System) -> bool:
    """Print by which run each known bug is caught; False when one is not."""
    hunts: dict[str, Callable[[], Tried | None]] = {
        name: partial(caught, system, name) for name in BUGS
    }
    hunts["enqueue after commit, by a real exit"] = partial(caught_by_exits, system)
    seen = 0
    for name, hunt in hunts.items():
        run = hunt()
        seen += run is not None
        print(f"{name}: {f'{run.name}: {run.verdict}' if run else 'NOT CAUGHT'}", flush=True)
    print(f"bugs: caught {seen} of {len(hunts)}", flush=True)
    return seen == len(hunts)


if __name__ == "__main__":
    sys.exit(main())
