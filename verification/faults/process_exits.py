"""Processes that end by `os._exit` in the middle of a call.

In the other runs an exception simulates the end of a process. Here everything that runs, from
accepting to the statistics, is a process of the operating system. One of them ends at a call,
before or after the call took effect: its memory and open connections are lost and none of its
handlers runs. Clock, queue and provider stay in the harness, which a process asks through a pipe.
"""

import faulthandler
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any, Final
from unittest import mock

from botocore.awsrequest import AWSPreparedRequest
from botocore.httpsession import URLLib3Session

from pillarbox.adapters.direct import AwsConnection, DirectClient
from verification.faults.processes import Process
from verification.faults.report import RunResult
from verification.faults.runs import PATHS, Path, faults_on_path, path_by_path
from verification.faults.statistics_runs import statistics_runs
from verification.faults.system import System
from verification.faults.wire import Fault, Killed, Kind

EXITS: Final = (Fault(Kind.KILL, "before"), Fault(Kind.KILL, "after"))
#: The exit code of a process that died.
DIED: Final = 9
#: A process that stands still for so many seconds prints its stacks and ends; the run then fails.
_STANDSTILL: Final = 120.0


def exits(system: System, paths: Sequence[Path] = PATHS) -> Iterator[RunResult]:
    """End a process at each call of the paths, and then at a fifth of the statistics'."""
    with real_processes(system, paths):
        for _, runs in path_by_path(system, paths, _exits_of):
            yield from runs
        yield from statistics_runs(system, every=5, faults=_exits_of)


def _exits_of(_call: str) -> Sequence[Fault]:
    return EXITS


@contextmanager
def real_processes(system: System, paths: Sequence[Path] = PATHS) -> Iterator[None]:
    """Run everything in the system in processes of the operating system."""
    # Import and create what every process needs once, before the first fork.
    for path in paths:
        next(faults_on_path(system, path))
    next(statistics_runs(system))
    with mock.patch.object(system, "process_of", lambda work: RealProcess(system, work)):
        yield


class RealProcess(Process):
    """A process of the operating system, from its first step to its end; it cannot be paused."""

    def __init__(self, system: System, work: Callable[[], Any]) -> None:
        super().__init__(work)
        self._system = system

    def resume(self) -> None:
        """Run the process to its end and answer its questions."""
        parent_end, child_end = Pipe()
        with warnings.catch_warnings():
            # Python warns of forks with threads. The other threads wait and hold no lock.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            parent_end.close()
            _run_child(self._system, child_end, self._work)
        child_end.close()
        try:
            while not self.done:
                self._answer(parent_end)
        except EOFError:
            self.error, self.done = Killed(), True
        parent_end.close()
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == (DIED if type(self.error) is Killed else 0)

    def _answer(self, pipe: Connection) -> None:
        question, arguments, now = pipe.recv()
        system = self._system
        system.now = now
        match question:
            case "plan":
                _, site = arguments
                system.wire.calls.append(site)
                pipe.send(system.wire.plan(*arguments))
            case "stand_in":
                (request,) = arguments
                answer = system.wire.stand_in(request)
                pipe.send((answer, request.body, request.headers))
            case "on_success":
                pipe.send(system.wire.on_success(*arguments))
            case "ended":
                self.result, self.error = arguments
                self.done = True


def _run_child(system: System, pipe: Connection, work: Callable[[], Any]) -> None:
    """Run the work in the child process and exit."""
    faulthandler.dump_traceback_later(_STANDSTILL, exit=True)
    one_question = Lock()  # a batch is delivered in threads

    def remote(question: str) -> Callable[..., Any]:
        def ask(*arguments: Any) -> Any:
            with one_question:
                pipe.send((question, arguments, system.now))
                return pipe.recv()

        return ask

    def stand_in(request: AWSPreparedRequest) -> Any:
        """Ask for an answer; the harness may change the request, of which it has a copy."""
        answer, request.body, request.headers = remote("stand_in")(request)
        return answer

    wire = system.wire
    wire.plan, wire.stand_in, wire.on_success = remote("plan"), stand_in, remote("on_success")
    wire.die = lambda: os._exit(DIED)
    result = error = None
    try:
        with _own_connections():
            try:
                result = work()
            except Exception as failure:  # noqa: BLE001  a process may end with any error
                error = RuntimeError(repr(failure))
        pipe.send(("ended", (result, error), system.now))
        os._exit(0)
    finally:
        os._exit(1)  # only the parent continues as the harness


@contextmanager
def _own_connections() -> Iterator[None]:
    """Let clients drop the connections that they share with the parent and open new ones."""
    send, connect = URLLib3Session.send, DirectClient._connect
    renewed, one_renewal = set[int](), Lock()

    def send_on_own(session: URLLib3Session, request: AWSPreparedRequest) -> Any:
        with one_renewal:
            if id(session) not in renewed:
                session.close()
                renewed.add(id(session))
        return send(session, request)

    def connect_on_own(client: DirectClient) -> AwsConnection:
        with one_renewal:
            if id(client) not in renewed:
                client._idle = []
                renewed.add(id(client))
        return connect(client)

    with (
        mock.patch.object(URLLib3Session, "send", send_on_own),
        mock.patch.object(DirectClient, "_connect", connect_on_own),
    ):
        yield
