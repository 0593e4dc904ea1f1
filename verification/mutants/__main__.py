# ruff: noqa: T201  a program that is run by hand prints what it found
"""Mutation testing of the conditions, ranks and leases: `make mutants`.

Each module is changed in every way that cosmic-ray knows, and each term of the
conditions that it hands to DynamoDB in every way of `conditions.py`: one change at a
time, in a copy of the tree, and its tests must fail. Prints the changes that survived.
With `--conditions` only the latter are tried. Arguments are modules, else all are.
One process has the libraries loaded and forks for each change, since starting
Python takes longer than the tests.
"""

import gc
import json
import os
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path
from typing import Final, Never

import pytest
from hypothesis import Phase, settings

from verification.mutants.conditions import changed

ROOT: Final = Path(__file__).parents[2]
#: One for each run, so that two may go side by side.
COPY: Final = ROOT / ".local" / "mutants" / str(os.getpid())
PACKAGE: Final = "layers/shared/pillarbox"
TOOL: Final = (".uv/bin/uv", "tool", "run", "--quiet", "--from", "cosmic-ray==8.7.0", "python")
#: Runs where cosmic-ray is; this environment does without it.
CODE: Final = Path(__file__).parent / "code_changes.py"

#: Each module with the tests that are about it, the quickest first.
MODULES: Final = {
    "domain/message.py": "tests/unit/domain/test_domain_message.py",
    "domain/quota.py": "tests/unit/domain/test_domain_quota.py",
    "application/delivery/deliver.py": "tests/unit/application/test_application_delivery.py",
    "application/delivery/feedback.py": "tests/unit/application/test_application_feedback.py",
    "application/delivery/poison_jobs.py": "tests/unit/application/test_application_poison_jobs.py",
    "application/delivery/sweep.py": "tests/unit/application/test_application_sweep.py",
    "application/sending/acceptance.py": "tests/unit/application/test_application_single.py"
    " tests/unit/application/test_application_batch.py"
    " tests/unit/application/test_application_smtp_groups.py"
    " tests/unit/application/test_application_faults.py",
    "application/sending/single.py": "tests/unit/application/test_application_single.py",
    "application/sending/batch.py": "tests/unit/application/test_application_batch.py",
    "adapters/dynamodb/claims.py": "-k 'not fakes' tests/ports/test_ports_claim_races.py"
    " tests/ports/test_ports_claims.py tests/ports/test_ports_groups.py",
    "adapters/dynamodb/messages.py": "-k 'not fakes' tests/ports/test_ports_claims.py"
    " tests/ports/test_ports_groups.py tests/ports/test_ports_message_races.py",
    "adapters/dynamodb/quotas.py": "-k 'not fakes' tests/ports/test_ports_quotas.py",
    "adapters/dynamodb/records.py": "-k 'not fakes' tests/ports/test_ports_claims.py"
    " tests/ports/test_ports_directory.py",
    "adapters/dynamodb/table.py": "tests/ports/test_ports_table.py",
}
#: The same for those of which only the conditions are changed.
CONDITIONS: Final = {
    "adapters/dynamodb/accounts.py": "tests/integration/admin/test_admin_stores.py",
    "adapters/dynamodb/api_keys.py": "tests/integration/admin/test_admin_stores.py",
    "adapters/dynamodb/list_entries.py": "tests/integration/admin/test_admin_stores.py",
    "adapters/dynamodb/heartbeat.py": "-k 'not fakes' tests/ports/test_ports_directory.py",
    "adapters/dynamodb/ledger.py": "tests/unit/history",
    "adapters/dynamodb/ledger_audit.py": "tests/unit/history",
    "adapters/dynamodb/suppressions.py": "-k 'not fakes' tests/ports/test_ports_notices.py"
    " tests/integration/admin/test_admin_stores.py",
    "adapters/dynamodb/templates.py": "tests/integration/admin/test_admin_stores.py",
}

#: In seconds of computing; a change may make a loop that never ends.
_PATIENCE: Final = 60
#: In seconds by the clock; one that sleeps is as good as dead too.
_LONGEST: Final = 600
_HOW: Final = (
    *("-x", "-q", "-p", "no:xdist", "-p", "no:unraisableexception"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)


def main() -> int:
    """Give 1 when a change survived."""
    leave = shutil.ignore_patterns(".*", "__pycache__", "node_modules")
    shutil.copytree(ROOT, COPY, ignore=leave)
    options = {argument for argument in sys.argv[1:] if argument.startswith("-")}
    modules = [argument for argument in sys.argv[1:] if argument not in options]
    survived = 0
    try:
        for module in modules or [*MODULES, *CONDITIONS]:
            whole = module in MODULES and not options
            with _testing(shlex.split((MODULES | CONDITIONS)[module])) as fail:
                survived += _survivors(module, fail, whole=whole)
    finally:
        shutil.rmtree(COPY)
    return 1 if survived else 0


def _survivors(module: str, fail: Callable[[], bool], *, whole: bool) -> int:
    place = COPY / PACKAGE / module
    source = place.read_text()
    if fail():
        sys.exit(f"{module}: its tests fail unchanged")
    changes, survived = [*(_of_code(place) if whole else ()), *changed(source)], 0
    for change in changes:
        place.write_text(change)
        if not fail():
            survived += 1
            before, after = source.splitlines(), change.splitlines()
            print(*unified_diff(before, after, n=0, lineterm=""), sep="\n", flush=True)
    place.write_text(source)
    print(f"== {module}: of {len(changes)} changes {survived} survived", flush=True)
    return survived


def _of_code(place: Path) -> list[str]:
    """The sources that cosmic-ray makes of a module's, each with one change."""
    tool = (str(ROOT / TOOL[0]), *TOOL[1:])
    made = subprocess.run([*tool, str(CODE), str(place)], capture_output=True, check=True)
    sources: list[str] = json.loads(made.stdout)
    return sources


@contextmanager
def _testing(tests: list[str]) -> Iterator[Callable[[], bool]]:
    """Give what tells whether the tests fail as the module is now."""
    operator_errors, asked = socket.socketpair()
    server = os.fork()
    if not server:
        operator_errors.close()
        _serve(asked, tests)
    asked.close()

    def fail() -> bool:
        operator_errors.send(b"?")
        (failed,) = operator_errors.recv(1)
        return bool(failed)

    try:
        yield fail
    finally:
        operator_errors.close()
        os.waitpid(server, 0)


def _serve(asked: socket.socket, tests: list[str]) -> Never:
    os.chdir(COPY)
    sys.path[:0] = [str(COPY), str(COPY / "layers" / "shared")]
    for stream in (sys.stdout, sys.stderr):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    # Once here, unchanged: what is not ours stays loaded, and what is ours compiled.
    pytest.main([*_HOW, *tests])
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", "")).startswith(str(COPY)):
            del sys.modules[name]
    gc.freeze()
    sys.dont_write_bytecode = True  # two changes within a second would look the same
    order = _Order()
    while asked.recv(1):
        order.read()
        runner = os.fork()
        if not runner:
            resource.setrlimit(resource.RLIMIT_CPU, (_PATIENCE, _PATIENCE))
            signal.alarm(_LONGEST)
            os._exit(int(pytest.main([*_HOW, *tests], [order])))
        asked.send(bytes([os.waitpid(runner, 0)[1] != 0]))
    os._exit(0)


class _Order:
    """Has the tests that failed last run first: they often fail at the next change too."""

    def __init__(self) -> None:
        self._last = COPY / "failed"
        self._last.write_text("")
        self._failed: list[str] = []

    def read(self) -> None:
        """Learn which test failed since."""
        test = self._last.read_text()
        if test:
            self._failed = [test, *(each for each in self._failed if each != test)]

    def pytest_collection(self) -> None:
        """Let no failing example be made smaller: that takes long, and nobody reads it."""
        settings.register_profile(
            "mutants", settings.default, phases=[Phase.explicit, Phase.generate]
        )
        settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put them in front."""
        places = {test: place for place, test in enumerate(self._failed)}
        items.sort(key=lambda item: places.get(item.nodeid, len(places)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tell it to the process that starts the next one."""
        if report.failed:
            self._last.write_text(report.nodeid)


if __name__ == "__main__":
    sys.exit(main())
