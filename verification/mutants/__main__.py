# ruff: noqa: T201  a program that is run by hand prints its results
"""Mutation tests of the conditions, ranks and leases: `make mutants`.

Each module is changed in every way that cosmic-ray knows, and each term of its DynamoDB
conditions in every way of `conditions.py`. Changes are made one at a time in a copy of the
tree, and the module's tests must fail. The program prints the changes that survived.
`--conditions` tries only the conditions, and `--seeded` only the bugs of `seeded_bugs.py`.
`--sample N` tries N changes of each module, always the same ones. Arguments are modules; the
default is all.
One process loads the libraries and forks for each change, since starting Python takes
longer than the tests.
"""

import gc
import json
import os
import random
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path
from typing import Final, Never

import pytest
from hypothesis import Phase, settings

from verification.mutants.conditions import changed
from verification.mutants.seeded_bugs import BUGS, SeededBug

ROOT: Final = Path(__file__).parents[2]
#: One for each run, so that two runs can be active at the same time.
COPY: Final = ROOT / ".local" / "mutants" / str(os.getpid())
PACKAGE: Final = "layers/shared/pillarbox"
TOOL: Final = (".uv/bin/uv", "tool", "run", "--quiet", "--from", "cosmic-ray==8.7.0", "python")
#: Runs in the environment of cosmic-ray, which is not installed in this one.
CODE: Final = Path(__file__).parent / "code_changes.py"

_DESCRIPTION: Final = "Change each condition, rank and lease; a test must fail."
_HISTORY: Final = "tests/unit/history/test_history"
_WEBHOOK: Final = "tests/unit/application/test_application_webhook"
_POSTING: Final = " ".join(
    f"{_WEBHOOK}_{name}.py" for name in ("drains", "worker", "attempts", "clocks", "replays")
)
_ERASURE: Final = (
    "tests/unit/application/test_application_erasure.py tests/unit/admin/test_admin_erasure.py"
    " tests/unit/admin/test_admin_erasure_copies.py"
)
_SIGN_IN: Final = (
    "tests/contract/test_sign_in.py tests/contract/test_sessions.py"
    " tests/contract/test_session_ends.py"
    " tests/contract/test_attacks_sign_in.py"
)
_SIGN_UP: Final = (
    "tests/unit/application/test_application_sign_up.py tests/contract/test_sign_up.py"
)
_LEDGER: Final = " ".join(
    f"{_HISTORY}_{name}.py"
    for name in (
        *("format", "ledger", "rollups", "repairs", "leftovers", "shards", "subsets"),
        *("audit", "search", "check", "aggregation"),
    )
)

_STORES: Final = (
    "tests/unit/admin/test_admin_use_cases.py tests/unit/admin/test_admin_templates.py"
    " tests/integration/admin/test_admin_account_stores.py"
    " tests/integration/admin/test_admin_template_stores.py"
)

#: Each module of the layer, the functions or the relay with its tests, the fastest first.
MODULES: Final = {
    "domain/messages/message.py": "tests/unit/domain/test_domain_message.py",
    "domain/accounts/quota.py": "tests/unit/domain/test_domain_quota.py",
    "domain/accounts/quota_counts.py": "tests/unit/domain/test_domain_quota_counts.py",
    "domain/accounts/key_policy.py": "tests/unit/domain/test_domain_key_policy.py",
    "admin/use_cases/erasure.py": _ERASURE,
    "domain/messages/erasure.py": _ERASURE,
    "domain/sign_in/codes.py": _SIGN_IN,
    "domain/sign_in/session.py": _SIGN_IN,
    "domain/sign_in/sign_up.py": _SIGN_UP,
    "application/sign_in/approval.py": _SIGN_UP,
    "application/sign_in/authentication.py": _SIGN_IN,
    "application/sign_in/code_limits.py": f"{_SIGN_IN} {_SIGN_UP}",
    "application/sign_in/code_mail.py": f"{_SIGN_IN} {_SIGN_UP}",
    "application/sign_in/members.py": _SIGN_IN,
    "application/sign_in/sign_in.py": _SIGN_IN,
    "application/sign_in/sign_up.py": _SIGN_UP,
    "application/sign_in/team.py": _SIGN_IN,
    "domain/messages/statistics.py": "tests/unit/domain/test_domain_statistics.py",
    "application/authentication.py": "tests/unit/application/test_application_strangers.py"
    " tests/unit/application/test_application_single.py",
    "application/delivery/deliver.py": "tests/unit/application/test_application_delivery.py"
    " tests/unit/application/test_application_erasure.py"
    " tests/unit/application/test_application_delivery_moments.py",
    "application/delivery/feedback.py": "tests/unit/application/test_application_feedback.py"
    " tests/unit/application/test_application_erasure.py",
    "application/delivery/poison_jobs.py": "tests/unit/application/test_application_poison_jobs.py",
    "application/delivery/sweep.py": "tests/unit/application/test_application_sweep.py",
    "application/history/ledger_check.py": "tests/unit/history/test_history_check.py",
    "application/sending/acceptance.py": "tests/unit/application/test_application_single.py"
    " tests/unit/application/test_application_batch.py"
    " tests/unit/application/test_application_smtp_groups.py"
    " tests/unit/application/test_application_faults.py",
    "application/sending/claiming.py": "tests/ports/test_ports_claims.py"
    " tests/ports/test_ports_groups.py",
    "application/sending/single.py": "tests/unit/application/test_application_single.py"
    " tests/unit/application/test_application_costly.py"
    " tests/unit/application/test_application_strangers.py",
    "application/sending/batch.py": "tests/unit/application/test_application_batch.py"
    " tests/unit/application/test_application_costly.py"
    " tests/unit/application/test_application_strangers.py",
    "application/sending/costly_requests.py": "tests/unit/application/test_application_costly.py"
    " tests/unit/application/test_application_strangers.py",
    "application/sending/smtp.py": "tests/unit/application/test_application_smtp.py"
    " tests/unit/application/test_application_smtp_keys.py"
    " tests/unit/application/test_application_smtp_groups.py"
    " tests/unit/application/test_application_strangers.py",
    "application/sending/smtp_message.py": "tests/unit/application/test_application_smtp.py"
    " tests/unit/application/test_application_smtp_keys.py"
    " tests/unit/application/test_application_smtp_sendable.py"
    " tests/unit/application/test_application_smtp_groups.py",
    **{
        f"application/alerts/{name}.py": "tests/unit/application/test_application_alerts.py"
        for name in ("chat", "choices", "looks", "raising", "telling")
    },
    "application/history/aggregate.py": f"{_HISTORY}_leftovers.py {_HISTORY}_shards.py"
    f" {_HISTORY}_key_uses.py {_HISTORY}_search.py {_HISTORY}_check.py"
    f" {_HISTORY}_aggregation.py {_HISTORY}_audit.py",
    "application/history/coverage.py": f"{_HISTORY}_shards.py {_HISTORY}_model.py",
    "application/history/pagination.py": f"{_HISTORY}_shards.py {_HISTORY}_model.py",
    "application/history/queries.py": f"{_HISTORY}_queries.py {_HISTORY}_shards.py"
    f" {_HISTORY}_model.py",
    "application/history/search.py": f"{_HISTORY}_search.py",
    "application/history/search_index.py": f"{_HISTORY}_search.py",
    "application/webhooks/announce.py": f"{_WEBHOOK}_announcements.py {_WEBHOOK}_worker.py"
    f" {_WEBHOOK}_faults.py",
    "application/webhooks/attempts.py": f"{_POSTING} {_WEBHOOK}_notices.py {_WEBHOOK}_faults.py",
    "application/webhooks/drain.py": _POSTING,
    "application/webhooks/enqueue_due.py": f"{_WEBHOOK}_due.py {_WEBHOOK}_notices.py"
    f" {_WEBHOOK}_faults.py",
    "application/webhooks/post.py": f"{_POSTING} {_WEBHOOK}_fairness.py {_WEBHOOK}_notices.py"
    f" {_WEBHOOK}_faults.py",
    "consumer.py": "tests/unit/test_consumer.py",
    "functions/deliver_message/app.py": "tests/contract/test_worker.py"
    " tests/contract/test_poison_jobs.py",
    "functions/record_feedback/app.py": "tests/contract/test_worker.py",
    "functions/sweep_messages/app.py": "tests/integration/test_events.py",
    "functions/aggregate_stats/app.py": "tests/integration/history/test_history_http.py",
    "relay/admission.py": "tests/relay/test_neighbours.py",
    "relay/batcher.py": "tests/relay/test_batcher.py",
    "relay/commands.py": "tests/relay/test_commands.py",
    "relay/connection.py": "tests/relay/test_connection.py tests/relay/test_deadlines.py"
    " tests/relay/test_commands.py"
    " tests/relay/test_content.py tests/relay/test_tls.py tests/relay/test_limits.py"
    " tests/relay/test_proxy.py tests/relay/test_slow_messages.py tests/relay/test_slow.py",
    "relay/health.py": "tests/relay/test_health.py",
    "relay/logins.py": "tests/relay/test_logins.py",
    "relay/memory.py": "tests/relay/test_shares.py",
    "relay/places.py": "tests/relay/test_logins.py",
    "relay/service.py": "tests/relay/test_service.py tests/relay/test_two_keys.py"
    " tests/relay/test_log.py tests/relay/test_collection.py",
    "relay/framing.py": "tests/relay/test_framing_bounds.py tests/relay/test_content.py",
    "relay/limits.py": "tests/relay/test_default_limits.py tests/relay/test_shares.py"
    " tests/relay/test_neighbours.py",
    "relay/proxy.py": "tests/relay/test_proxy.py",
    "relay/replies.py": "tests/relay/test_replies.py tests/relay/test_commands.py"
    " tests/relay/test_auth.py tests/relay/test_content.py tests/relay/test_use_case.py",
    "relay/sasl.py": "tests/relay/test_auth.py",
    "relay/session.py": "tests/relay/test_session.py tests/relay/test_commands.py"
    " tests/relay/test_auth.py tests/relay/test_limits.py tests/relay/test_use_case.py",
    "relay/tls.py": "tests/relay/test_tls_records.py tests/relay/test_tls.py"
    " tests/relay/test_resumption.py",
    "adapters/dynamodb/messages/claims.py": "-k 'not fakes' tests/ports/test_ports_claim_races.py"
    " tests/ports/test_ports_claims.py tests/ports/test_ports_groups.py",
    "adapters/dynamodb/inserts.py": "tests/ports/test_ports_contention.py",
    "adapters/dynamodb/history/ledger.py": _LEDGER,
    "adapters/dynamodb/history/ledger_audit.py": _LEDGER,
    "adapters/dynamodb/history/ledger_rollups.py": _LEDGER,
    "adapters/dynamodb/accounts/key_uses.py": f"{_HISTORY}_key_uses.py",
    "adapters/dynamodb/history/ledger_format.py": _LEDGER,
    "adapters/dynamodb/messages/messages.py": "-k 'not fakes' tests/ports/test_ports_claims.py"
    " tests/ports/test_ports_groups.py tests/ports/test_ports_message_races.py",
    "adapters/dynamodb/messages/quota_refusals.py": "-k 'not fakes'"
    " tests/ports/test_ports_costly_refusals.py",
    "adapters/dynamodb/messages/quotas.py": "-k 'not fakes' tests/ports/test_ports_quotas.py",
    "adapters/dynamodb/records.py": "-k 'not fakes' tests/ports/test_ports_claims.py"
    " tests/ports/test_ports_directory.py",
    "adapters/dynamodb/table.py": "tests/ports/test_ports_table.py",
}
#: The same for modules in which only the conditions are changed.
CONDITIONS: Final = {
    "adapters/dynamodb/accounts/accounts.py": _STORES,
    "adapters/dynamodb/accounts/api_keys.py": _STORES,
    "adapters/dynamodb/list_entries.py": _STORES,
    "adapters/dynamodb/messages/heartbeat.py": "-k 'not fakes' tests/ports/test_ports_directory.py",
    "adapters/dynamodb/history/rebuild_marks.py": "tests/ports/test_ports_sweep.py",
    "adapters/dynamodb/accounts/suppressions.py": "-k 'not fakes' tests/ports/test_ports_notices.py"
    f" {_STORES}",
    "adapters/dynamodb/templates/templates.py": _STORES,
}

#: Seconds of CPU time for the tests of a change, since it may cause an endless loop.
_CPU_LIMIT: Final = 60
#: Seconds of real time, since a change may also cause an endless wait.
_TIME_LIMIT: Final = 600
_PYTEST_OPTIONS: Final = (
    *("-x", "-q", "-p", "no:xdist", "-p", "no:unraisableexception"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)


def main() -> int:
    """Return 1 if a change survived."""
    parser = ArgumentParser(prog="python -m verification.mutants", description=_DESCRIPTION)
    parser.add_argument("modules", nargs="*", metavar="MODULE", choices=MODULES | CONDITIONS)
    parser.add_argument("--conditions", action="store_true", help="change only the conditions")
    parser.add_argument("--seeded", action="store_true", help="try only the seeded bugs")
    parser.add_argument("--sample", type=int, metavar="N", help="try N changes of each module")
    arguments = parser.parse_args()
    ignored = shutil.ignore_patterns(".*", "__pycache__", "node_modules")
    shutil.copytree(ROOT, COPY, ignore=ignored)
    survived = 0
    try:
        if arguments.seeded or not (arguments.modules or arguments.conditions):
            survived += sum(map(_survives, BUGS))
            print(f"== seeded bugs: of {len(BUGS)} {survived} survived", flush=True)
        if arguments.seeded:
            return 1 if survived else 0
        for module in arguments.modules or [*MODULES, *CONDITIONS]:
            with_code = module in MODULES and not arguments.conditions
            with _test_server(shlex.split((MODULES | CONDITIONS)[module])) as fail:
                survived += _survivors(module, fail, arguments.sample, with_code=with_code)
    finally:
        shutil.rmtree(COPY)
    return 1 if survived else 0


def _survives(bug: SeededBug) -> bool:
    """Put a bug into the copy, and return whether its tests pass."""
    path = COPY / bug.path
    source = path.read_text()
    if source.count(bug.text) != 1:
        sys.exit(f"{bug.path}: the text of the bug {bug.name!r} is not there once")
    with _test_server(shlex.split(bug.tests)) as fail:
        if fail():
            sys.exit(f"{bug.tests}: these tests fail unchanged")
        path.write_text(source.replace(bug.text, bug.bug))
        caught = fail()
    path.write_text(source)
    print(f"{'caught' if caught else 'SURVIVED'}: {bug.name}", flush=True)
    return not caught


def _survivors(
    module: str, fail: Callable[[], bool], sample: int | None, *, with_code: bool
) -> int:
    path = COPY / module
    if not path.exists():
        path = COPY / PACKAGE / module
    source = path.read_text()
    if fail():
        sys.exit(f"{module}: its tests fail unchanged")
    changes, survived = [*(_code_changes(path) if with_code else ()), *changed(source)], 0
    if sample is not None and sample < len(changes):
        changes = random.Random(module).sample(changes, sample)  # noqa: S311  no secret
    for change in changes:
        path.write_text(change)
        if not fail():
            survived += 1
            before, after = source.splitlines(), change.splitlines()
            print(*unified_diff(before, after, n=0, lineterm=""), sep="\n", flush=True)
    path.write_text(source)
    print(f"== {module}: of {len(changes)} changes {survived} survived", flush=True)
    return survived


def _code_changes(path: Path) -> list[str]:
    """Return the sources that cosmic-ray makes of a module, each with one change."""
    tool = (str(ROOT / TOOL[0]), *TOOL[1:])
    result = subprocess.run([*tool, str(CODE), str(path)], capture_output=True, check=True)
    sources: list[str] = json.loads(result.stdout)
    return sources


@contextmanager
def _test_server(tests: list[str]) -> Iterator[Callable[[], bool]]:
    """Return a function that says whether the tests fail with the module as it is now."""
    ours, theirs = socket.socketpair()
    server = os.fork()
    if not server:
        ours.close()
        _serve(theirs, tests)
    theirs.close()

    def fail() -> bool:
        ours.send(b"?")
        (failed,) = ours.recv(1)
        return bool(failed)

    try:
        yield fail
    finally:
        ours.close()
        os.waitpid(server, 0)


def _serve(requests: socket.socket, tests: list[str]) -> Never:
    os.chdir(COPY)
    sys.path[:0] = [str(COPY), str(COPY / "layers" / "shared")]
    for stream in (sys.stdout, sys.stderr):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    # Run the unchanged tests once: the libraries stay loaded and our modules get compiled.
    pytest.main([*_PYTEST_OPTIONS, *tests])
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", "")).startswith(str(COPY)):
            del sys.modules[name]
    gc.freeze()
    sys.dont_write_bytecode = True  # byte code cannot tell two changes within a second apart
    order = _FailedFirst()
    while requests.recv(1):
        order.read()
        child = os.fork()
        if not child:
            resource.setrlimit(resource.RLIMIT_CPU, (_CPU_LIMIT, _CPU_LIMIT))
            signal.alarm(_TIME_LIMIT)
            os._exit(int(pytest.main([*_PYTEST_OPTIONS, *tests], [order])))
        requests.send(bytes([os.waitpid(child, 0)[1] != 0]))
    os._exit(0)


class _FailedFirst:
    """Runs the tests that failed last first, since they often fail at the next change too."""

    def __init__(self) -> None:
        self._last = COPY / "failed"
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
