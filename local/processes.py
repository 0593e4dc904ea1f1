"""Processes of the stack that would outlive it if it were killed: the next start ends them."""

import contextlib
import json
import os
import signal
from pathlib import Path

import psutil


def remember(record: Path, leader: int) -> None:
    """Write down the leader of a process group.

    A process is known by its id and its time of birth, so that another one which was given
    the same id since is left alone.
    """
    created = psutil.Process(leader).create_time()
    record.write_text(json.dumps({"pid": leader, "created": created}))


def end_remembered(record: Path) -> None:
    """End the group that a run left behind when it was killed."""
    with contextlib.suppress(FileNotFoundError, ValueError, psutil.NoSuchProcess):
        left = json.loads(record.read_text())
        if abs(psutil.Process(left["pid"]).create_time() - left["created"]) < 1:
            kill_group(left["pid"])
    record.unlink(missing_ok=True)


def kill_group(leader: int) -> None:
    """Kill what is left of a group; nothing to do when nothing is."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
