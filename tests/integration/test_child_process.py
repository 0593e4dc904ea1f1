"""Work in a process of its own: its result comes back, and its death harms nobody."""

import errno
import os
import time
from collections.abc import Callable
from mmap import mmap
from pathlib import Path
from typing import Final
from unittest import mock

import pytest

from pillarbox.adapters.child_process import run_in_child
from pillarbox.application.ports import BuildDied
from tests.loops import for_each
from tests.stack import PATIENCE

# Python warns of forks while other tests' threads wait. The worker has no threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")

_MEGABYTE: Final = 1024 * 1024


def exhaust_memory() -> bytes:
    return bytes(bytearray(200 * _MEGABYTE))


def exit_at_once() -> bytes:
    os._exit(0)


def be_slow() -> bytes:
    time.sleep(3600)
    return b""


def be_killed() -> bytes:
    os.kill(os.getpid(), 9)
    return b""


@pytest.mark.parametrize("octets", [b"", b"x", b"x" * 20 * _MEGABYTE])
def test_the_result_comes_back(octets: bytes) -> None:
    assert run_in_child(lambda: octets) == octets


def test_the_work_runs_in_another_process() -> None:
    changed: list[int] = []

    def work() -> bytes:
        changed.append(1)
        return str(os.getpid()).encode()

    assert int(run_in_child(work)) != os.getpid()
    assert changed == []


def map_too_much() -> bytes:
    with mmap(-1, 200 * _MEGABYTE) as memory:
        return memory[:1]


def fail_to_import() -> bytes:
    raise ImportError("failed to map segment from shared object")


def wrap_exhaustion() -> bytes:
    try:
        return exhaust_memory()
    except MemoryError as error:
        raise ValueError("cannot be built") from error


@for_each(
    "work",
    [exit_at_once, be_killed, exhaust_memory, map_too_much, fail_to_import, wrap_exhaustion],
)
def test_a_death_is_reported(work: Callable[[], bytes]) -> None:
    with pytest.raises(BuildDied):
        run_in_child(work, memory=100 * _MEGABYTE)


def test_slow_work_is_killed() -> None:
    started = time.monotonic()
    with pytest.raises(BuildDied):
        run_in_child(be_slow, seconds=0.3)
    assert time.monotonic() - started < PATIENCE


@pytest.mark.parametrize(
    "error",
    [
        KeyError("the reason"),
        ImportError("No module named 'the reason'"),
        OSError(errno.EIO, "the reason"),
        ConnectionError("the reason"),
    ],
    ids=repr,
)
def test_an_exception_reaches_the_caller(error: Exception) -> None:
    def work() -> bytes:
        raise error

    with pytest.raises(type(error), match="the reason"):
        run_in_child(work)


def test_a_passing_error_of_the_system_does_no_harm() -> None:
    """If only the copy could not open a file, this process does the work itself."""
    here = os.getpid()

    def work() -> bytes:
        if os.getpid() != here:
            raise OSError(errno.EMFILE, "Too many open files")
        return b"done"

    assert run_in_child(work) == b"done"


def test_no_process_and_no_descriptor_remains() -> None:
    fork, children = os.fork, []

    def recorded_fork() -> int:
        children.append(fork())
        return children[-1]

    before = len(list(Path("/dev/fd").iterdir()))
    with mock.patch.object(os, "fork", recorded_fork):
        run_in_child(lambda: b"x")
        with pytest.raises(BuildDied):
            run_in_child(be_killed)
        with pytest.raises(BuildDied):
            run_in_child(be_slow, seconds=0.1)
    assert len(list(Path("/dev/fd").iterdir())) == before
    for child in children:
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)
