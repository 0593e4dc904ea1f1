"""Run work in a process of its own, which may die without harm to this one."""

import os
import resource
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Final, NoReturn

from pillarbox.application.ports import BuildDied

#: How much more memory the work may use than this process has, in bytes.
MEMORY: Final = 256 * 1024 * 1024
#: In seconds. The smallest worker builds the slowest message in about six.
TIME: Final = 20.0

#: Exit codes that no process has by accident: work that calls `exit` is not done.
_DONE: Final = 70
_RAISED: Final = 71
_DIED: Final = 72
_CHUNK: Final = 1024 * 1024

#: What Python raises at the bound of memory, also in an import and in a call of the system.
_NO_MEMORY: Final = (MemoryError, ImportError, OSError)


def run_in_child(
    work: Callable[[], bytes], *, memory: int = MEMORY, seconds: float = TIME
) -> bytes:
    """Run work in a copy of this process, and return its result.

    What Python raises at the bound of memory counts as a death, since this process has no bound.
    After any other exception this process repeats the work, so that the caller gets the exception.
    The work must not use connections, which the copy shares with this process.

    Raises:
        BuildDied: the copy was killed, exceeded the memory, or took too long.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _run_and_exit(work, writer, memory)
    os.close(writer)
    try:
        octets = _read(reader, monotonic() + seconds)
    finally:
        os.close(reader)
    if octets is None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    exit_code = os.waitstatus_to_exitcode(status)
    if octets is not None and exit_code == _DONE:
        return octets
    if exit_code == _RAISED:
        return work()
    raise BuildDied


def _run_and_exit(work: Callable[[], bytes], writer: int, memory: int) -> NoReturn:
    status = _DIED
    try:
        _limit_memory(memory)
        octets = work()
        with open(writer, "wb") as pipe:
            pipe.write(octets)
        status = _DONE
    except _NO_MEMORY:
        status = _DIED
    except Exception:  # noqa: BLE001  the parent repeats the work and gets it
        status = _RAISED
    finally:
        os._exit(status)  # nothing of the parent may run twice


def _limit_memory(memory: int) -> None:
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _read(reader: int, deadline: float) -> bytes | None:
    """Read to the end; return None if it does not come in time."""
    chunks: list[bytes] = []
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - monotonic()))
        if not ready:
            return None
        chunk = os.read(reader, _CHUNK)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
