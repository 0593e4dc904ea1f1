# ruff: noqa: T201  a program that is run by hand prints what it found
"""The long run: `make faults`. Every fault at every call of every path, then random schedules.

Prints what was tried and what broke; a failure names what shows it again.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.faults.counting import counted
from tests.faults.engine import running
from tests.faults.runs import Tried, at_random, at_random_from, one_by_one, within
from tests.faults.seeded import BUGS, caught
from tests.faults.system import System
from tests.faults.verdict import Verdict


def main() -> int:
    """Give 1 when a promise was broken."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=600, help="for the random schedules")
    options.add_argument("--seed", type=int, default=1, help="the first of the random schedules")
    options.add_argument("--only", action="store_true", help="only that one")
    options.add_argument("--bugs", action="store_true", help="only show that known bugs are caught")
    chosen = options.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="faults-") as state,
        running(Path(state)) as system,
    ):
        if chosen.only:
            return tell("random", [at_random(system, chosen.seed)])
        if chosen.bugs:
            missed = [name for name in BUGS if not show(system, name)]
            return 1 if missed else 0
        broken = tell("one by one", one_by_one(system)) | tell("statistics", counted(system))
        return broken | tell("random", within(chosen.seconds, at_random_from(system, chosen.seed)))


def tell(what: str, runs: Iterable[Tried]) -> int:
    """Print the sum of some runs, and each that broke a promise."""
    total, faults, tried = Verdict(), 0, 0
    for run in runs:
        tried, faults, total = tried + 1, faults + run.faults, total + run.verdict
        if run.verdict:
            print(f"BROKEN {run.name}: {run.verdict}", flush=True)
    print(f"{what}: runs {tried}, faults tried {faults}, {total}", flush=True)
    return bool(total)


def show(system: System, name: str) -> bool:
    """Print by which run a known bug is caught."""
    run = caught(system, name)
    print(f"{name}: {f'{run.name}: {run.verdict}' if run else 'NOT CAUGHT'}", flush=True)
    return run is not None


if __name__ == "__main__":
    sys.exit(main())
