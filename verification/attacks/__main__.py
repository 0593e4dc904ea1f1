# ruff: noqa: T201  a program that is run by hand prints its results
"""Run every attack, one after the other (`make attacks`), or those that are named.

    .venv/bin/python -m verification.attacks
    .venv/bin/python -m verification.attacks mime --seed 2

Each has a process of its own, unless it is the only one. Its last line has its counts. If it found
a broken promise, its whole output follows.
"""

import argparse
import subprocess
import sys
from importlib import import_module
from typing import Final

from verification.attacks.tally import Options

PROGRAMS: Final = ("sources", "mime", "http_fuzz", "smtp_fuzz", "odd_characters")


def main() -> int:
    """Return 1 if an attack succeeded."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=600, help="how long each fuzzer runs")
    parser.add_argument("--seed", type=int, default=1, help="another seed makes other inputs")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", choices=PROGRAMS)
    given = parser.parse_args()
    if len(given.programs) == 1:
        program = import_module(f"verification.attacks.{given.programs[0]}")
        return int(program.run(Options(given.seconds, given.seed)).report())
    arguments = ["--seconds", str(given.seconds), "--seed", str(given.seed)]
    succeeded = [name for name in given.programs or PROGRAMS if _succeeds(name, arguments)]
    print(f"attacks that succeeded: {', '.join(succeeded) or 'none'}")
    return int(bool(succeeded))


def _succeeds(name: str, arguments: list[str]) -> bool:
    """Run a program and print its last line; return whether it found a broken promise."""
    process = subprocess.run(
        [sys.executable, "-m", "verification.attacks", name, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = process.stdout.splitlines()
    print(f"{name}: {lines[-1] if lines else 'no output'}", flush=True)
    if process.returncode:
        print(process.stdout, process.stderr, sep="\n", flush=True)
    return process.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
