"""The local stack for the tests marked `stack`. It starts once, as a user starts it."""

import fcntl
import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.budget import has_budget, run_within_budget
from tests.examples import DEEP, examples

# No test depends on the speed of the machine, and each run tries the same examples, so that a
# failure is reproducible. `make fuzz`, `make faults` and `make mutants` try more.
hypothesis.settings.register_profile(
    "pillarbox",
    deadline=None,
    derandomize=not DEEP,
    max_examples=examples(40),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("pillarbox")

# A shell that starts the tests in the background lets them, and so all programs that they start,
# ignore Ctrl-C and the end of a terminal. A shell that a test starts could not handle them then.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

_ROOT = Path(__file__).resolve().parent.parent
# The packed code stays here for the next run; everything else belongs to one run.
_STATE = _ROOT / ".local" / "tests"
_DESCRIPTION = _STATE / "stack.json"
# Each worker that uses the stack has a shared lock on it.
_USING = _STATE / "using"
# In seconds. A first start installs the layer's dependencies, a stop waits for the parts of the
# stack, and both take longer on a busy machine.
_START_TIMEOUT = 300
_STOP_TIMEOUT = 120
#: The garbage collector runs after so many new objects. Ten times the default halves its time, and
#: costs 30 MB.
_COLLECTED_AFTER = 20_000


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from the tests' objects, which stay: it would take a fifth."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(_COLLECTED_AFTER)
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of slow tests alone if no slow test is asked for."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    return "\npytestmark = pytest.mark.slow\n" in collection_path.read_text() or None


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Fail a unit test that exceeds its budget of processor time."""
    if not has_budget(item):
        return None
    run_within_budget(item, nextitem)
    return True


@pytest.fixture(scope="session")
def stack() -> Iterator[dict[str, Any]]:
    """Return the content of stack.json; all workers share one stack, which must stop cleanly.

    The first worker starts the stack, and stops it when no other worker uses it any more. If that
    worker crashes, the stack stops by itself then.
    """
    _STATE.mkdir(parents=True, exist_ok=True)
    with (_STATE / "starting").open("a") as starting, _USING.open("a") as using:
        fcntl.flock(starting, fcntl.LOCK_EX)
        is_first = _is_first(using)
        fcntl.flock(using, fcntl.LOCK_SH)  # waits for a stack that stops by itself
        process = _start() if is_first or not _DESCRIPTION.exists() else None
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield json.loads(_DESCRIPTION.read_text())
        fcntl.flock(using, fcntl.LOCK_UN)
        if process:
            fcntl.flock(starting, fcntl.LOCK_EX)
            fcntl.flock(using, fcntl.LOCK_EX)
            output = _stop(process)
            assert process.returncode == 0, output
            assert not _DESCRIPTION.exists()


def _is_first(using: Any) -> bool:
    try:
        fcntl.flock(using, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start() -> subprocess.Popen[str]:
    ports = dict.fromkeys(("PILLARBOX_PORT", "PILLARBOX_INBOX_PORT", "PILLARBOX_SMTP_PORT"), "0")
    rate = {"PILLARBOX_SES_RATE": "1000"}  # no test waits for its turn
    _DESCRIPTION.unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.while_locked", str(_USING), "local"],
        cwd=_ROOT,
        env=os.environ | ports | rate | {"PILLARBOX_STATE_DIR": str(_STATE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + _START_TIMEOUT
    while not _DESCRIPTION.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    if not _DESCRIPTION.exists():
        pytest.fail(f"The local stack did not start:\n{_stop(process)}")
    return process


def _stop(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=_STOP_TIMEOUT)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0]
