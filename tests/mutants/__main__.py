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
import os
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path
from typing import Final, Never

import pytest

from tests.mutants.conditions import changed

ROOT: Final = Path(__file__).parents[2]
#: One for each run, so that two may go side by side.
COPY: Final = ROOT / ".local" / "mutants" / str(os.getpid())
PACKAGE: Final = "layers/shared/pillarbox"
TOOL: Final = (".uv/bin/uv", "tool", "run", "--quiet", "--from", "cosmic-ray==8.7.0")

#: Each module with the tests that are about it, the quickest first.
MODULES: Final = {
    "domain/message.py": "tests/unit/domain/test_domain_message.py",
    "domain/quota.py": "tests/unit/domain/test_domain_quota.py",
    "application/delivery.py": "tests/unit/application/test_application_delivery.py",
    "application/feedback.py": "tests/unit/application/test_application_feedback.py",
    "application/quarantine.py": "tests/unit/application/test_application_quarantine.py",
    "application/sweeping.py": "tests/unit/application/test_application_sweeping.py",
    "application/submission.py": "tests/unit/application/test_application_submission.py"
    " tests/unit/application/test_application_faults.py",
    "adapters/dynamodb/claims.py": "-k 'not fakes' tests/ports/test_ports_claim_races.py"
    " tests/ports/test_ports_claims.py tests/ports/test_ports_groups.py",
    "adapters/dynamodb/messages.py": "-k 'not fakes' tests/ports/test_ports_claims.py"
    " tests/ports/test_ports_groups.py tests/ports/test_ports_message_races.py",
    "adapters/dynamodb/quotas.py": "-k 'not fakes' tests/ports/test_ports_quotas.py",
}
#: The same for those of which only the conditions are changed.
CONDITIONS: Final = {
    "adapters/dynamodb/accounts.py": "tests/integration/admin/test_admin_stores.py",
    "adapters/dynamodb/api_keys.py": "tests/integration/admin/test_admin_stores.py",
    "adapters/dynamodb/listed.py": "tests/integration/admin/test_admin_stores.py",
    "adapters/dynamodb/pulse.py": "-k 'not fakes' tests/ports/test_ports_directory.py",
    "adapters/dynamodb/statistics.py": "tests/unit/history",
    "adapters/dynamodb/statistics_audit.py": "tests/unit/history",
    "adapters/dynamodb/suppressions.py": "-k 'not fakes' tests/ports/test_ports_notices.py"
    " tests/integration/admin/test_admin_stores.py",
    "adapters/dynamodb/templates.py": "tests/integration/admin/test_admin_stores.py",
}

#: In seconds of computing; a change may make a loop that never ends.
_PATIENCE: Final = 60
#: In seconds by the clock; one that sleeps is as good as dead too.
_LONGEST: Final = 600
_HOW: Final = (
    *("-x", "-q", "-p", "no:xdist", "-p", "no:schemathesis", "-p", "no:unraisableexception"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
_PLACE: Final = "tests.socket"
#: What tells the tests' verdict: cosmic-ray starts it for each change, so it loads nothing else.
_ASK: Final = """
import socket, sys
asked = socket.socket(socket.AF_UNIX)
asked.connect(sys.argv[1])
sys.exit(ord(asked.recv(1) or b"?"))
"""

#: Only marks and types: they change nothing that runs, or nothing that is a rule here.
_LEFT_OUT: Final = """
[cosmic-ray.filters.operators-filter]
exclude-operators = ["core/RemoveDecorator", "core/ReplaceBinaryOperator_BitOr_.*"]
"""


def main() -> int:
    """Give 1 when a change survived."""
    leave = shutil.ignore_patterns(".*", "__pycache__", "node_modules")
    shutil.copytree(ROOT, COPY, ignore=leave)
    (COPY / "ask.py").write_text(_ASK)
    options = {argument for argument in sys.argv[1:] if argument.startswith("-")}
    modules = [argument for argument in sys.argv[1:] if argument not in options]
    survived = 0
    try:
        for module in modules or [*MODULES, *CONDITIONS]:
            with _testing(shlex.split((MODULES | CONDITIONS)[module])):
                if module in MODULES and not options:
                    survived += _survivors(module)
                survived += _surviving_conditions(module)
    finally:
        shutil.rmtree(COPY)
    return 1 if survived else 0


def _survivors(module: str) -> bool:
    config, session = COPY / "mutants.toml", COPY / "mutants.sqlite"
    session.unlink(missing_ok=True)
    config.write_text(
        "[cosmic-ray]\n"
        f'module-path = "{PACKAGE}/{module}"\n'
        f"timeout = {2 * _LONGEST}.0\nexcluded-modules = []\n"
        f'test-command = "{sys.executable} -S ask.py {_PLACE}"\n'
        '[cosmic-ray.distributor]\nname = "local"\n' + _LEFT_OUT
    )
    _run("cosmic-ray", "init", str(config), str(session))
    _run("cr-filter-operators", str(session), str(config))
    _run("cosmic-ray", "baseline", str(config))
    _run("cosmic-ray", "exec", str(config), str(session))
    report = _run("cr-report", "--surviving-only", "--show-diff", str(session))
    print(f"== {module}\n{report}", flush=True)
    return "surviving mutants: 0 " not in report


def _surviving_conditions(module: str) -> int:
    place = COPY / PACKAGE / module
    source = place.read_text()
    if _asked():
        sys.exit(f"{module}: its tests fail unchanged")
    changes, survived = [*changed(source)], 0
    for change in changes:
        place.write_text(change)
        if not _asked():
            survived += 1
            print(
                *unified_diff(source.splitlines(), change.splitlines(), n=0, lineterm=""), sep="\n"
            )
    place.write_text(source)
    print(f"== {module}: of {len(changes)} changes of conditions {survived} survived", flush=True)
    return survived


@contextmanager
def _testing(tests: list[str]) -> Iterator[None]:
    """Answer whoever connects to the socket with the exit status of the tests."""
    place = COPY / _PLACE
    place.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as asked:
        asked.bind(str(place))
        asked.listen()
        server = os.fork()
        if not server:
            _serve(asked, tests)
        try:
            yield
        finally:
            os.kill(server, signal.SIGKILL)
            os.waitpid(server, 0)


def _asked() -> int:
    """The exit status of the tests as the module is now."""
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(str(COPY / _PLACE))
        return ord(asked.recv(1) or b"?")


def _serve(asked: socket.socket, tests: list[str]) -> Never:
    os.chdir(COPY)
    sys.path[:0] = [str(COPY), str(COPY / "layers" / "shared")]
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    # Once here, unchanged: what is not ours stays loaded, and what is ours compiled.
    pytest.main([*_HOW, *tests])
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", "")).startswith(str(COPY)):
            del sys.modules[name]
    gc.freeze()
    sys.dont_write_bytecode = True  # two changes within a second would look the same
    while True:
        client, _ = asked.accept()
        runner = os.fork()
        if not runner:
            resource.setrlimit(resource.RLIMIT_CPU, (_PATIENCE, _PATIENCE))
            signal.alarm(_LONGEST)
            os._exit(int(pytest.main([*_HOW, *tests])))
        client.send(bytes([os.waitpid(runner, 0)[1] != 0]))
        client.close()


def _run(*command: str) -> str:
    tool = (str(ROOT / TOOL[0]), *TOOL[1:])
    done = subprocess.run([*tool, *command], cwd=COPY, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
