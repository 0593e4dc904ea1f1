"""Process groups that outlive a killed stack; the next start ends them."""

import contextlib
import json
import os
import signal
from pathlib import Path

import psutil


def remember(record: Path, leader: int) -> None:
    """Record the leader of a process group.

    The record holds the process id and the start time, because the operating system can give the
    same id to another process later.
    """
    created = psutil.Process(leader).create_time()
    record.write_text(json.dumps({"pid": leader, "created": created}))


def end_remembered(record: Path) -> None:
    """Kill the recorded process group of a run that was killed itself."""
    with contextlib.suppress(FileNotFoundError, ValueError, psutil.NoSuchProcess):
        recorded = json.loads(record.read_text())
        if abs(psutil.Process(recorded["pid"]).create_time() - recorded["created"]) < 1:
            kill_group(recorded["pid"])
    record.unlink(missing_ok=True)


def kill_group(leader: int) -> None:
    """Kill a process group; do nothing if it no longer exists."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
