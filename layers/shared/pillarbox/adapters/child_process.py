"""Run work in a process of its own, which may die without harm to this one."""

import errno
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
_STDERR: Final = 2

#: What the loader of glibc says if a library does not fit into the memory.
_LIBRARY_TOO_LARGE: Final = "failed to map segment from shared object"


def run_in_child(
    work: Callable[[], bytes],
    *,
    memory: int = MEMORY,
    seconds: float = TIME,
    processor_seconds: int | None = None,
) -> bytes:
    """Run work in a copy of this process, and return its result.

    If the copy ran out of memory, that counts as a death, since this process has no bound. After
    any other exception this process repeats the work, so that the caller gets the exception. The
    work must not use connections, which the copy shares with this process.
    """
    limit = _used_memory() + memory
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _run_and_exit(work, writer, limit, processor_seconds)
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


def _run_and_exit(
    work: Callable[[], bytes], writer: int, limit: int, processor_seconds: int | None
) -> NoReturn:
    status = _DIED
    try:
        # A library that aborts writes what it read there, and the logs must not have it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDERR)
        if sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        if processor_seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (processor_seconds, processor_seconds))
        octets = work()
        with open(writer, "wb") as pipe:
            pipe.write(octets)
        status = _DONE
    except Exception as error:  # noqa: BLE001  the parent repeats the work and gets it
        status = _DIED if _is_out_of_memory(error) else _RAISED
    finally:
        os._exit(status)  # nothing of the parent may run twice


def _is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an exception, or one that led to it, comes from a lack of memory."""
    while error is not None:
        if (
            isinstance(error, MemoryError)
            or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
            or (isinstance(error, ImportError) and _LIBRARY_TOO_LARGE in str(error))
        ):
            return True
        error = error.__cause__ or error.__context__
    return False


def _used_memory() -> int:
    """Return the size of this process's address space in bytes; 0 if the system does not say."""
    if sys.platform != "linux":
        return 0
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


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
