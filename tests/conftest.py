"""The local stack for the tests marked `stack`: started once, as a user starts it."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# No test depends on how fast the machine is, and each run tries the same: what a run found the
# next one finds again. `make fuzz`, `make faults` and `make mutants` look further.
hypothesis.settings.register_profile(
    "pillarbox",
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("pillarbox")

_ROOT = Path(__file__).resolve().parent.parent
# What was packed stays here for the next run; the rest is this run's.
_STATE = _ROOT / ".local" / "tests"
_TOLD = _STATE / "stack.json"
# Seconds. A first start installs the layer's dependencies; a stop waits for its parts;
# a busy machine takes longer for either.
_STARTS_WITHIN = 300
_STOPS_WITHIN = 120


@pytest.fixture(scope="session")
def stack() -> Iterator[dict[str, Any]]:
    """What stack.json says of one stack for all workers; it must end as told to.

    The worker that comes first starts it, and ends it when no other uses it any more.
    """
    _STATE.mkdir(parents=True, exist_ok=True)
    with (_STATE / "starting").open("a") as starting, (_STATE / "using").open("a") as using:
        fcntl.flock(starting, fcntl.LOCK_EX)
        process = _start() if _first(using) else None
        fcntl.flock(using, fcntl.LOCK_SH)
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield json.loads(_TOLD.read_text())
        fcntl.flock(using, fcntl.LOCK_UN)
        if process:
            fcntl.flock(starting, fcntl.LOCK_EX)
            fcntl.flock(using, fcntl.LOCK_EX)
            output = _stop(process)
            assert process.returncode == 0, output
            assert not _TOLD.exists()


def _first(using: Any) -> bool:
    try:
        fcntl.flock(using, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start() -> subprocess.Popen[str]:
    ports = dict.fromkeys(("PILLARBOX_PORT", "PILLARBOX_INBOX_PORT", "PILLARBOX_SMTP_PORT"), "0")
    _TOLD.unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "local"],
        cwd=_ROOT,
        env=os.environ | ports | {"PILLARBOX_STATE_DIR": str(_STATE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    late = time.monotonic() + _STARTS_WITHIN
    while not _TOLD.exists() and process.poll() is None and time.monotonic() < late:
        time.sleep(0.1)
    if not _TOLD.exists():
        pytest.fail(f"The local stack did not start:\n{_stop(process)}")
    return process


def _stop(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=_STOPS_WITHIN)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0]
