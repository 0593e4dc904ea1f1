"""The local stack for the tests marked `stack`: started once, as a user starts it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(__file__).resolve().parent.parent
# Seconds. A first start installs the layer's dependencies; a stop waits for its parts.
_STARTS_WITHIN = 60
_STOPS_WITHIN = 20


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep all that need the stack on one worker, so that one stack serves them."""
    for item in items:
        if item.get_closest_marker("stack"):
            item.add_marker(pytest.mark.xdist_group("stack"))


@pytest.fixture(scope="session")
def stack() -> Iterator[dict[str, Any]]:
    """What .local/stack.json says of a stack of the tests' own; it must end as told to."""
    # What was packed stays for the next run; the rest is this run's.
    state = _ROOT / ".local" / "tests"
    ports = dict.fromkeys(("PILLARBOX_PORT", "PILLARBOX_INBOX_PORT", "PILLARBOX_SMTP_PORT"), "0")
    told = state / "stack.json"
    told.unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "local"],
        cwd=_ROOT,
        env=os.environ | ports | {"PILLARBOX_STATE_DIR": str(state)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        late = time.monotonic() + _STARTS_WITHIN
        while not told.exists() and process.poll() is None and time.monotonic() < late:
            time.sleep(0.1)
        if not told.exists():
            process.kill()
            pytest.fail(f"The local stack did not start:\n{process.communicate()[0]}")
        yield json.loads(told.read_text())
    finally:
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=_STOPS_WITHIN)
    assert process.returncode == 0, output
    assert not told.exists()
