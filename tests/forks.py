"""Run the tests in several processes: `pytest -n 3 tests/contract`.

One process imports and collects the tests, which takes seconds, and forks the others. Each takes
the tests of one file after another from a queue, so what a file sets up is set up once, and no
process is idle while a file is left.
"""

import io
import os
import traceback
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any, Final, NoReturn

import pytest
from _pytest.config import create_terminal_writer

#: Bytes of a number in the queue.
_WIDTH: Final = 2


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "run the tests in COUNT processes, which are forked after the collection; 0: in this one"
    group = parser.getgroup("forks")
    # Only so may a plugin have an option of one small letter.
    group._addoption("-n", "--numprocesses", type=int, default=0, metavar="COUNT", help=text)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in forked processes if the option asks for them."""
    options = session.config.option
    if not options.numprocesses or options.collectonly or session.testsfailed:
        return None
    session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # all share it
    groups = _groups(session.items)
    queue, end = os.pipe()
    os.write(end, b"".join(number.to_bytes(_WIDTH) for number in range(len(groups))))
    os.close(end)
    processes = {}
    for _ in range(min(options.numprocesses, len(groups))):
        reader, writer = Pipe(duplex=False)
        if not (process := os.fork()):
            _work(session, _taken(queue, groups), writer)
        writer.close()
        processes[reader] = process
    try:
        _report(session, processes, queue)
    finally:
        for process in processes.values():
            os.waitpid(process, 0)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    return True


def _groups(items: Sequence[pytest.Item]) -> list[list[pytest.Item]]:
    """Return what one process runs as a whole: a file, or all that needs a second browser."""
    groups: dict[object, list[pytest.Item]] = {}
    for item in items:
        owner = "Firefox" if "[firefox" in item.name else item.path
        groups.setdefault(owner, []).append(item)
    return [*groups.values()]


def _taken(queue: int, groups: list[list[pytest.Item]]) -> Iterator[pytest.Item]:
    while number := os.read(queue, _WIDTH):
        yield from groups[int.from_bytes(number)]


def _work(session: pytest.Session, items: Iterator[pytest.Item], writer: Connection) -> NoReturn:
    """Run tests in a process of its own, which shows nothing and sends its reports."""
    plugins = session.config.pluginmanager
    status = 1
    try:
        if capture := plugins.getplugin("capturemanager"):
            capture.stop_global_capturing()  # its files are those of the parent
            capture.start_global_capturing()
            capture.suspend_global_capture()
        terminal: Any = plugins.getplugin("terminalreporter")
        terminal._tw = create_terminal_writer(session.config, io.StringIO())
        plugins.register(_Sender(session.config, writer))
        for item, following in pairwise(chain(items, [None])):
            assert item
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.shouldfail or session.shouldstop:
                break
        status = 0
    except BaseException:  # noqa: BLE001 what stops the process is shown before it ends
        traceback.print_exc()
    finally:
        session._setupstate.teardown_exact(None)
        os._exit(status)  # what the parent does at its end is not done here too


class _Sender:
    """Sends the start of each test and its reports to the process that collected it."""

    def __init__(self, config: pytest.Config, writer: Connection) -> None:
        self._config = config
        self._writer = writer
        self._reports: list[Any] = []

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int, str]) -> None:
        self._writer.send((nodeid, location, None))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        serializable = self._config.hook.pytest_report_to_serializable
        self._reports.append(serializable(config=self._config, report=report))

    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int, str]) -> None:
        self._writer.send((nodeid, location, self._reports))
        self._reports = []


def _report(session: pytest.Session, processes: dict[Connection, int], queue: int) -> None:
    """Report what the processes send, until all have ended."""
    hook = session.config.hook
    newest: dict[Connection, tuple[str, tuple[str, int | None, str]]] = {}
    while processes:
        for reader in wait([*processes]):
            assert isinstance(reader, Connection)
            try:
                nodeid, location, reports = reader.recv()
            except EOFError:
                if status := os.waitpid(processes.pop(reader), 0)[1]:
                    test = newest.get(reader, ("tests", ("tests", None, "tests")))
                    hook.pytest_runtest_logreport(report=_broken(*test, status))
                continue
            newest[reader] = nodeid, location
            if reports is None:
                hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
                continue
            for data in reports:
                report = hook.pytest_report_from_serializable(config=session.config, data=data)
                hook.pytest_runtest_logreport(report=report)
            hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)
            while session.shouldfail and os.read(queue, 4_096):
                pass  # no process takes another file


def _broken(nodeid: str, location: tuple[str, int | None, str], status: int) -> pytest.TestReport:
    code = os.waitstatus_to_exitcode(status)
    text = f"The process of this test ended with status {code}, during the test or after it."
    return pytest.TestReport(nodeid, location, {}, "failed", text, "call")
