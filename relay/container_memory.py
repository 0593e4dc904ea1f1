"""Compares the memory for messages with what the container may use.

A container that uses more is killed, with all messages in it.
"""

from pathlib import Path
from typing import Final

from pillarbox.settings import SettingError, Settings
from relay.limits import MESSAGES_MIB, MIB

#: What one process needs besides the messages, in MiB (measured: docs/relay.md, Memory).
OF_PROCESS: Final = 128
#: The limit of the process's own group: cgroup version 2, then 1.
_LIMITS: Final = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def limit_in_mib(files: tuple[Path, ...] = _LIMITS) -> int | None:
    """Return the limit of the container, or None without one."""
    for file in files:
        if file.is_file():
            text = file.read_text().strip()
            return None if text == "max" else int(text) // MIB
    return None


def check(processes: int, limit: int | None) -> None:
    """Check that messages and processes fit into so many MiB."""
    needed = MESSAGES_MIB + processes * OF_PROCESS
    if limit is not None and needed > limit:
        raise SettingError(
            f"{Settings.processes.variable} is {processes}, so the container needs {needed} MiB,"
            f" but it has {limit}"
        )
