# ruff: noqa: T201  a program that is run by hand prints its results
"""Run every attack, one after the other (`make attacks`), each in a process of its own.

The last line of each program has its counts. A program that ends with another exit code than 0
found a broken promise; its whole output follows.
"""

import argparse
import subprocess
import sys
from typing import Final

#: The programs, and their arguments that take a number of seconds.
PROGRAMS: Final = {
    "anonymous": False,
    "key_flood": False,
    "large_requests": False,
    "relay_floods": False,
    "neighbours": False,
    "bombs": False,
    "deadly_jobs": False,
    "self_service": False,
    "mime": False,
    "templates": True,
    "http_fuzz": True,
    "smtp_fuzz": True,
}


def main() -> int:
    """Return 1 if an attack succeeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="how long each fuzzer runs")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", choices=PROGRAMS)
    options = parser.parse_args()
    succeeded = [
        name
        for name, is_timed in PROGRAMS.items()
        if name in (options.programs or PROGRAMS)
        and _attack(name, ["--seconds", str(options.seconds)] if is_timed else [])
    ]
    print(f"attacks that succeeded: {', '.join(succeeded) or 'none'}")
    return int(bool(succeeded))


def _attack(name: str, arguments: list[str]) -> bool:
    """Run a program and print its last line; return whether it found a broken promise."""
    process = subprocess.run(
        [sys.executable, "-m", f"verification.attacks.{name}", *arguments],
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
