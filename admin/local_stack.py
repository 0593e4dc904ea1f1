"""The local stack that runs, as its stack.json describes it."""

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import psutil

from pillarbox.domain.errors import ServiceError
from pillarbox.settings import Settings

_ROOT: Final = Path(__file__).parents[1]
#: Seconds by which two readings of a process's start time may differ.
_TOLERANCE: Final = 2.0


def read_local_stack() -> dict[str, Any]:
    path = _ROOT / Settings(os.environ).state_dir / "stack.json"
    try:
        stack: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        raise ServiceError(
            "service_unavailable",
            "The local stack is not running: start it with `make up` or `pillarbox up`.",
        ) from None
    if not _runs(stack):
        raise ServiceError(
            "service_unavailable",
            "The local stack was killed: start it again, which also cleans up (`pillarbox up`).",
        )
    return stack


def _runs(stack: dict[str, Any]) -> bool:
    """Return whether the stack's process still runs. Another process may have its id now."""
    if "pid" not in stack:  # it was not started by `make up`
        return True
    try:
        started = psutil.Process(stack["pid"]).create_time()
    except psutil.NoSuchProcess:
        return False
    return abs(started - datetime.fromisoformat(stack["started_at"]).timestamp()) < _TOLERANCE
