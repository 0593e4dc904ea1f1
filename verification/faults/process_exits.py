"""Processes that really die: `os._exit` in the middle of a call.

The other runs let an exception stand for a process's death. Here everything that runs, from
accepting to the statistics, is a process of its own, and one ends at a call, before or after
that took effect: with its memory, its open connections and no handler of it left. Clock,
queue and provider stay with the harness, which a process asks through a pipe.
"""

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, Final
from unittest import mock

from botocore.awsrequest import AWSPreparedRequest
from botocore.httpsession import URLLib3Session

from verification.faults.bug_enqueue_after_commit import enqueue_after_commit
from verification.faults.processes import Process
from verification.faults.report import RunResult
from verification.faults.runs import PATHS, Path, one_by_one, path_by_path
from verification.faults.statistics_runs import counted
from verification.faults.system import System
from verification.faults.wire import Fault, Killed, Kind

EXITS: Final = (Fault(Kind.KILL, "before"), Fault(Kind.KILL, "after"))
_DIED: Final = 9


def exits(system: System, paths: Sequence[Path] = PATHS) -> Iterator[RunResult]:
    """End a process at each call of the paths, then of the statistics."""
    with real_processes(system, paths):
        for _, runs in path_by_path(system, paths, _exits_of):
            yield from runs
        yield from counted(system, faults=_exits_of)


def _exits_of(_call: str) -> Sequence[Fault]:
    return EXITS


def first_failure_by_exit(system: System) -> RunResult | None:
    """Return the first run that fails because of "enqueue after commit", or None."""
    path = PATHS[2]
    with real_processes(system, [path]), enqueue_after_commit():
        runs = one_by_one(system, path, _exits_of)
        return next((run for run in runs if run.verdict), None)


@contextmanager
def real_processes(system: System, paths: Sequence[Path] = PATHS) -> Iterator[None]:
    """Let everything of the system that runs be a process of the operating system."""
    # What every process needs is imported and made once, before they part.
    for path in paths:
        next(one_by_one(system, path))
    next(counted(system))
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
                _, site = arguments
                system.wire.calls.append(site)
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

    def operator_errors(what: str) -> Callable[..., Any]:
        def ask(*arguments: Any) -> Any:
            pipe.send((what, arguments, system.now))
            return pipe.recv()

        return ask

    wire = system.wire
    wire.plan, wire.stand_in, wire.heard = (
        operator_errors("plan"),
        operator_errors("stand_in"),
        operator_errors("heard"),
    )
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
