# ruff: noqa: T201  a program that is run by hand prints its results
"""Plant each bug that was found or thought of, one at a time; its checks must fail: `make bank`.

    .venv/bin/python -m verification.bank --list
    .venv/bin/python -m verification.bank --only lease     # those with this text in their names

`bugs.toml` has the bugs by name. A patch has paths of files, and after each the lines to change:
`-` is before what goes, `+` before what comes, a blank before what stays. What goes and stays must
be in the file once. A check is a test, or a program of `verification` that prints what is BROKEN.
At first the tests run without a bug, and must pass.
"""

import os
import shlex
import subprocess
import sys
import time
import tomllib
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Queue
from typing import Final, NamedTuple

from verification.planting import copied_tree

#: What most paths of files begin with, and leave out.
PACKAGE: Final = "layers/shared/pillarbox"
_JOBS: Final = 2
#: Seconds; a bug may cause an endless loop.
_TIME_LIMIT: Final = 300
_PYTEST: Final = ("pytest", "-n0", "-x", "-q", "--tb=line", "-m", "")


class Edit(NamedTuple):
    """A change of a file: some of its lines, and those in their place."""

    path: str
    old: str
    new: str


class Bug(NamedTuple):
    """A bug, and the checks that must fail with it."""

    name: str
    edits: Sequence[Edit]
    checks: Sequence[str]


class CannotPlantError(Exception):
    """A patch does not fit the code as it is now."""


def read_bugs() -> Sequence[Bug]:
    """Return all bugs."""
    found = tomllib.loads(Path(__file__).with_name("bugs.toml").read_text())
    return [Bug(name, [*_edits(one["patch"])], one["checks"]) for name, one in found.items()]


def _edits(patch: str) -> Iterator[Edit]:
    for part in ("\n" + patch.rstrip("\n")).split("\n@ ")[1:]:
        path, *lines = part.split("\n")
        old, new = (
            "".join(f"{line[1:]}\n" for line in lines if line[:1] != left) for left in ("+", "-")
        )
        yield Edit(path, old, new)


def plant(edit: Edit, root: Path) -> tuple[Path, str]:
    """Return the file that an edit changes, and its text with the bug.

    Raises:
        CannotPlantError: the old lines are not in the file, or more than once.
    """
    path = next(p for p in (root / edit.path, root / PACKAGE / edit.path) if p.exists())
    text = f"\n{path.read_text()}"
    if text.count(f"\n{edit.old}") != 1 or edit.old == edit.new:
        raise CannotPlantError(f"{edit.path} does not have these lines once:\n{edit.old}")
    return path, text.replace(f"\n{edit.old}", f"\n{edit.new}")[1:]


def main() -> int:
    """Return 1 if a bug survived or cannot be planted, or a check fails without one."""
    parser = ArgumentParser(prog="python -m verification.bank")
    parser.add_argument("--only", default="", metavar="TEXT", help="bugs with this text alone")
    parser.add_argument("--list", action="store_true", help="print the bugs and their checks")
    parser.add_argument("--jobs", type=int, default=_JOBS, help="so many at a time")
    options = parser.parse_args()
    bugs = [bug for bug in read_bugs() if options.only in bug.name]
    if options.list:
        print(*(f"{bug.name}: {', '.join(bug.checks)}" for bug in bugs), sep="\n")
        return 0
    began, copies = time.monotonic(), Queue[Path]()
    checks = dict.fromkeys(check for bug in bugs for check in bug.checks)
    tests = [check for check in checks if _is_test(check)]
    with ExitStack() as stack, ThreadPoolExecutor(options.jobs) as pool:
        for _ in range(options.jobs):
            copies.put(stack.enter_context(copied_tree()))
        failed = bool(tests and _failures(Bug("no bug", (), [" ".join(tests)]), copies))
        survived = sum(pool.map(lambda bug: not _is_killed(bug, copies), bugs))
    seconds, of_processors = time.monotonic() - began, sum(os.times()[2:4])
    if failed:
        print("a test fails without a bug")
    print(
        f"{len(bugs)} bugs, {survived} survived, "
        f"{seconds:.0f} s, {of_processors:.0f} s of processor time"
    )
    return int(bool(survived or failed))


def _is_killed(bug: Bug, copies: Queue[Path]) -> bool:
    began = time.monotonic()
    failures = _failures(bug, copies)
    missed = [check for check in bug.checks if check not in failures]
    for check in missed:
        print(f"SURVIVED {bug.name}: {check}", flush=True)
    if not missed:
        print(
            f"killed {bug.name} ({time.monotonic() - began:.0f} s)", *failures.values(), sep="\n  "
        )
    return not missed


def _failures(bug: Bug, copies: Queue[Path]) -> dict[str, str]:
    """Plant a bug in a copy, and return which of its checks fail, with what they say."""
    copy = copies.get()
    try:
        with _planted(bug, copy):
            said = {check: _failure(check, copy) for check in bug.checks}
    except CannotPlantError as error:
        print(f"NOT PLANTED {bug.name}: {error}", flush=True)
        return {}
    finally:
        copies.put(copy)
    return {check: why for check, why in said.items() if why}


@contextmanager
def _planted(bug: Bug, copy: Path) -> Iterator[None]:
    before: dict[Path, tuple[bytes, os.stat_result]] = {}
    try:
        for edit in bug.edits:
            path, text = plant(edit, copy)
            before.setdefault(path, (path.read_bytes(), path.stat()))
            path.write_text(text)
        yield
    finally:
        for path, (octets, stat) in before.items():
            path.write_bytes(octets)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # its byte code fits again


def _is_test(check: str) -> bool:
    return check.startswith("tests/")


def _failure(check: str, copy: Path) -> str:
    """Run a check; return what it says if it fails, else nothing."""
    program = (*_PYTEST, *shlex.split(check)) if _is_test(check) else shlex.split(check)
    paths = f"{copy}:{copy / 'layers/shared'}"
    # Byte code of a copy is as good as any: its bug is another change of the file, of another time.
    environment = os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": ""}
    try:
        result = subprocess.run(
            (sys.executable, "-m", *program),
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "it does not end"
    lines = result.stdout.splitlines()
    if result.returncode not in {0, 1} or "\nTraceback" in f"\n{result.stderr}":
        print(f"CANNOT RUN {check}", *lines[-5:], result.stderr[-2000:], sep="\n", flush=True)
        return ""
    return next((line[:200] for line in lines if line.startswith(("FAILED", "BROKEN"))), "")


if __name__ == "__main__":
    sys.exit(main())
