# ruff: noqa: T201  a program that is run by hand prints its results
"""Mutation tests: `make mutants`.

    .venv/bin/python -m pytest -n0 -p verification.mutants.touching tests/unit tests/contract
    .venv/bin/python -m verification.mutants layers/shared/pillarbox/application/delivery

The first command writes which files of tests enter which function of the product. The second one
changes the modules of folders or files, one change at a time, as `changes.py` says. The tests that
enter the changed function, or one that names the changed constant, must fail. It prints the changes
that survive.
`--sample N` tries N changes of each module, always the same ones.
One process loads the libraries and forks for each change, since starting Python takes longer than
the tests.
"""

import ast
import gc
import json
import os
import random
import resource
import signal
import socket
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import Any, Final, Never

import pytest
from hypothesis import Phase, settings

from verification.mutants.changes import Change, changes, places
from verification.mutants.touching import PRODUCT, TOUCHED
from verification.planting import ROOT, copied_tree

#: Seconds that the tests of a change took together when they were recorded: the fastest ones.
_TESTS_LIMIT: Final = 60
#: So many files of tests run first.
_FIRST: Final = 5
#: Seconds of CPU time for the tests of a change, since it may cause an endless loop.
_CPU_LIMIT: Final = 120
#: Seconds of real time, since a change may also cause an endless wait.
_TIME_LIMIT: Final = 600
#: A change, and the files of tests that it is tried with.
type _Tried = tuple[Change, Sequence[str]]
_PYTEST_OPTIONS: Final = (
    *("-x", "-q", "-p", "no:xdist", "-p", "no:unraisableexception"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)


def main() -> int:
    """Return 1 if a change survived."""
    parser = ArgumentParser(prog="python -m verification.mutants")
    parser.add_argument("paths", nargs="*", metavar="PATH", default=PRODUCT)
    parser.add_argument("--conditions", action="store_true", help="change each condition too")
    parser.add_argument("--sample", type=int, metavar="N", help="try N changes of each module")
    arguments = parser.parse_args()
    paths = (
        file
        for path in arguments.paths
        for file in (ROOT / path, *sorted((ROOT / path).rglob("*")))
    )
    modules = dict.fromkeys(str(path.relative_to(ROOT)) for path in paths if path.suffix == ".py")
    with copied_tree() as copy:
        tried = {module: [*_tried(copy, module, arguments)] for module in modules}
        every = [test for found in tried.values() for _, tests in found for test in tests]
        with _test_server(copy, dict.fromkeys(every)) as server:
            survived = [_survivors(copy, module, server, tried[module]) for module in modules]
    return 1 if any(survived) else 0


def _tried(copy: Path, module: str, arguments: Any) -> Iterator[_Tried]:
    found = [*changes((copy / module).read_text(), conditions=arguments.conditions)]
    if arguments.sample is not None and arguments.sample < len(found):
        found = random.Random(module).sample(found, arguments.sample)  # noqa: S311  no secret
    for change in found:
        yield change, _tests(module, change)


def _survivors(copy: Path, module: str, server: socket.socket, tried: Sequence[_Tried]) -> int:
    path = copy / module
    source = path.read_text()
    every = [*dict.fromkeys(test for _, tests in tried for test in tests)]
    if every and _fail(server, every):
        sys.exit(f"{module}: its tests fail without a change")
    survived = 0
    for change, tests in tried:
        path.write_text(change.source)
        # Most changes fail in the first files, and to collect all of them takes seconds.
        parts = (tests[:_FIRST], tests[_FIRST:])
        if not any(_fail(server, part) for part in parts if part):
            survived += 1
            before, after = source.splitlines(), change.source.splitlines()
            lines = unified_diff(before, after, n=0, lineterm="")
            print(f"-- {module}: {len(tests)} files of tests", *lines, sep="\n", flush=True)
    path.write_text(source)
    print(f"== {module}: of {len(tried)} changes {survived} survived", flush=True)
    return survived


# Which tests are tried


def _tests(module: str, change: Change) -> list[str]:
    """Return the files of tests that enter what a change concerns, the likely and fast ones first.

    They are those that enter the changed function, or a function that names the changed constant;
    without either, any function of the module.
    """
    functions = {f"{module}::{change.function}"} if change.function else _users(module, change)
    touched = {
        file: known["seconds"]
        for file, known in _touched().items()
        if not functions.isdisjoint(known["functions"])
    }
    name = f"{Path(module).parent.name}.{Path(module).stem} import"
    likely = (file for file in touched if name in (ROOT / file).read_text())
    order = [*dict.fromkeys((*sorted(likely, key=touched.__getitem__), *_special_first(touched)))]
    chosen, seconds = list[str](), 0.0
    for file in order:
        seconds += touched[file]
        if seconds <= _TESTS_LIMIT or not chosen:
            chosen.append(file)
    return chosen


def _special_first(files: Iterable[str]) -> list[str]:
    """Return files of tests, those first that enter few functions."""
    return sorted(files, key=lambda file: len(_touched()[file]["functions"]))


@cache
def _touched() -> dict[str, Any]:
    known: dict[str, Any] = json.loads(TOUCHED.read_text())
    return {file: one for file, one in known.items() if (ROOT / file).exists()}


def _users(module: str, change: Change) -> set[str]:
    """Return the functions that name a constant, also through other constants."""
    functions, constants, seen = set[str](), {change.constant} - {""}, set[str]()
    while constants:
        seen |= constants
        found = [
            place
            for name in constants
            for place in _named().get(name, ())
            if place[0] == module or not name.startswith("_")
        ]
        functions |= {f"{path}::{function}" for path, function, _ in found if function}
        constants = {constant for _, function, constant in found if not function} - seen - {""}
    if functions:
        return functions
    every = (one for known in _touched().values() for one in known["functions"])
    return {one for one in every if one.startswith(f"{module}::")}


@cache
def _named() -> dict[str, set[tuple[str, str, str]]]:
    """Return for each name where it stands: path, function, and the constant that it defines."""
    named = dict[str, set[tuple[str, str, str]]]()
    for path in (path for part in PRODUCT for path in (ROOT / part).rglob("*.py")):
        for node, function, constant in places(ast.parse(path.read_text())):
            name = getattr(node, "id", None) or getattr(node, "attr", None)
            if name and name != constant:
                place = (str(path.relative_to(ROOT)), function, constant)
                named.setdefault(name, set()).add(place)
    return named


# The processes that run them


def _fail(server: socket.socket, tests: Sequence[str]) -> bool:
    """Return whether one of the tests fails with the tree as it is now."""
    server.send(json.dumps(tests).encode())
    (failed,) = server.recv(1)
    return bool(failed)


@contextmanager
def _test_server(copy: Path, tests: Iterable[str]) -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = os.fork()
    if not server:
        ours.close()
        _serve(copy, tests, theirs)
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        os.waitpid(server, 0)


def _serve(copy: Path, tests: Iterable[str], requests: socket.socket) -> Never:
    os.chdir(copy)
    sys.path[:0] = [str(copy), str(copy / "layers" / "shared")]
    for stream in (sys.stdout, sys.stderr):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    # Collect the tests once: the libraries stay loaded and our modules get compiled.
    sys.dont_write_bytecode = False
    pytest.main([*_PYTEST_OPTIONS, "--collect-only", *tests])
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", "")).startswith(str(copy)):
            del sys.modules[name]
    gc.freeze()
    sys.dont_write_bytecode = True  # byte code cannot tell two changes within a second apart
    order = _FailedFirst(copy)
    while chosen := requests.recv(1 << 20):
        order.read()
        child = os.fork()
        if not child:
            resource.setrlimit(resource.RLIMIT_CPU, (_CPU_LIMIT, _CPU_LIMIT))
            signal.alarm(_TIME_LIMIT)
            os._exit(int(pytest.main([*_PYTEST_OPTIONS, *json.loads(chosen)], [order])))
        requests.send(bytes([os.waitpid(child, 0)[1] != 0]))
    os._exit(0)


class _FailedFirst:
    """Runs the tests that failed last first, since they often fail at the next change too."""

    def __init__(self, copy: Path) -> None:
        self._last = copy / "failed"
        self._last.write_text("")
        self._failed: list[str] = []

    def read(self) -> None:
        """Read which test failed last."""
        test = self._last.read_text()
        if test:
            self._failed = [test, *(other for other in self._failed if other != test)]

    def pytest_collection(self) -> None:
        """Turn off the shrinking of failing examples, which takes long and is not read."""
        settings.register_profile(
            "mutants", settings.default, phases=[Phase.explicit, Phase.generate]
        )
        settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put the tests that failed first, and let none fail because the machine is busy."""
        for item in items:
            item.add_marker("slow")  # it has no budget of processor time
        positions = {test: path for path, test in enumerate(self._failed)}
        items.sort(key=lambda item: positions.get(item.nodeid, len(positions)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the failed test for the process that starts the next run."""
        if report.failed:
            self._last.write_text(report.nodeid)


if __name__ == "__main__":
    sys.exit(main())
