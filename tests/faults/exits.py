# ruff: noqa: T201  a program that is run by hand prints what it found
"""Processes that really die: `os._exit` in the middle of a call (`make faults`).

The other runs let an exception stand for a process's death. Here everything that runs, from
accepting to the statistics, is a process of its own, and one ends at a call, before or after
that took effect: with its memory, its open connections and no handler of it left. Clock,
queue and provider stay with the harness, which a process asks through a pipe.
"""

import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final
from unittest import mock

from botocore.awsrequest import AWSPreparedRequest
from botocore.httpsession import URLLib3Session

from tests.faults.__main__ import tell
from tests.faults.counting import counted
from tests.faults.engine import running
from tests.faults.processes import Process
from tests.faults.runs import PATHS, SMTP, Tried, one_by_one
from tests.faults.seeded import BUGS
from tests.faults.system import System
from tests.faults.wire import Fault, Killed, Kind

EXITS: Final = (Fault(Kind.KILL, "before"), Fault(Kind.KILL, "after"))
#: One of the known bugs, which a single death shows.
BUG: Final = "enqueue after commit"
_DIED: Final = 9


def main() -> int:
    """Give 1 when a promise was broken."""
    with tempfile.TemporaryDirectory(prefix="exits-") as state, running(Path(state)) as system:
        # What every process needs is imported and made once, before they part.
        for path in PATHS + SMTP:
            next(one_by_one(system, (path,)))
        next(counted(system))
        with real_processes(system):
            seen = caught_by_exits(system)
            print(f"{BUG}: {seen.name if seen else 'NOT CAUGHT'}", flush=True)
            broken = tell("real exits", one_by_one(system, faults=lambda _call: EXITS))
            broken |= tell("real exits, statistics", counted(system, faults=EXITS))
    return broken | (not seen)


def caught_by_exits(system: System) -> Tried | None:
    """The first end of a process at one of a mail's calls that the known bug does not bear."""
    runs = one_by_one(system, PATHS[2:3], faults=lambda _call: EXITS)
    with BUGS[BUG]():
        return next((run for run in runs if run.verdict), None)


@contextmanager
def real_processes(system: System) -> Iterator[None]:
    """Let everything of the system that runs be a process of the operating system."""
    with mock.patch.object(system, "process_of", lambda work: RealProcess(system, work)):
        yield


class RealProcess(Process):
    """One that the operating system knows, from its first step to its end; it cannot be paused."""

    def __init__(self, system: System, work: Callable[[], Any]) -> None:
        super().__init__(work)
        self._system = system

    def go_on(self) -> None:
        """Run it to its end, and answer what it asks meanwhile."""
        ours, its = Pipe()
        with warnings.catch_warnings():
            # Of a process with threads: the others hold no lock here, they wait for this one.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            ours.close()
            _live(self._system, its, self._work)
        its.close()
        try:
            while not self.done:
                self._answer(ours)
        except EOFError:
            self.error, self.done = Killed(), True
        ours.close()
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == (_DIED if type(self.error) is Killed else 0)

    def _answer(self, pipe: Connection) -> None:
        what, arguments, now = pipe.recv()
        system = self._system
        system.now = now
        match what:
            case "plan":
                system.wire.calls.append(arguments[1])
                pipe.send(system.wire.plan(*arguments))
            case "stand_in":
                pipe.send(system.wire.stand_in(*arguments))
            case "heard":
                pipe.send(system.wire.heard(*arguments))
            case "ended":
                self.result, self.error = arguments
                self.done = True


def _live(system: System, pipe: Connection, work: Callable[[], Any]) -> None:
    """The life of the child, which ends with this function and never returns."""

    def asking(what: str) -> Callable[..., Any]:
        def ask(*arguments: Any) -> Any:
            pipe.send((what, arguments, system.now))
            return pipe.recv()

        return ask

    wire = system.wire
    wire.plan, wire.stand_in, wire.heard = asking("plan"), asking("stand_in"), asking("heard")
    wire.die = lambda: os._exit(_DIED)
    result = error = None
    try:
        with _own_connections():
            try:
                result = work()
            except Exception as failure:  # noqa: BLE001  whatever a process ends with
                error = RuntimeError(repr(failure))
        pipe.send(("ended", (result, error), system.now))
        os._exit(0)
    finally:
        os._exit(1)  # what the harness is has one process


@contextmanager
def _own_connections() -> Iterator[None]:
    """Let clients leave the connections that they share with another process, and make new ones."""
    send, own = URLLib3Session.send, set[int]()

    def send_on_own(session: URLLib3Session, request: AWSPreparedRequest) -> Any:
        if id(session) not in own:
            own.add(id(session))
            session.close()
        return send(session, request)

    with mock.patch.object(URLLib3Session, "send", send_on_own):
        yield


if __name__ == "__main__":
    sys.exit(main())
