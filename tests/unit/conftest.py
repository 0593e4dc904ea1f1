"""A unit test starts no process and opens no socket: one that does fails."""

import sys
from collections.abc import Iterator
from multiprocessing import util
from typing import Any, Final, Never

import pytest

#: The interpreter's audit events of what a unit test may not do.
_FORBIDDEN: Final = {
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.system",
    "socket.bind",
    "socket.connect",
    "socket.getaddrinfo",
    "socket.sendto",
    "subprocess.Popen",
}
_running = False


def _audit(event: str, _arguments: tuple[Any, ...]) -> None:
    if _running and event in _FORBIDDEN:
        _refuse(event)


def _refuse(what: str) -> Never:
    pytest.fail(f"a unit test may not do this: {what} (see tests/integration)")


sys.addaudithook(_audit)


@pytest.fixture(autouse=True)
def no_process_and_no_socket(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail the test at its first process or connection."""
    global _running  # noqa: PLW0603  an audit hook stays for good, so it is switched
    # The only way to a process that has no audit event.
    monkeypatch.setattr(util, "spawnv_passfds", lambda *_: _refuse("multiprocessing.spawn"))
    _running = True
    yield
    _running = False
