"""Concurrent processes that make their calls of ports in the order that a test chooses."""

import threading
from collections.abc import Callable

from tests.fakes.world import Killed, World


class Actor:
    """A process that stops before each call of a port until the test continues it.

    It has its own thread, but it never runs at the same time as the test.

    Attributes:
        at: the call before which the process stops.
    """

    def __init__(self, world: World, work: Callable[[], object]) -> None:
        self.at: str | None = None
        self.result: object = None
        self.error: BaseException | None = None
        self.done = False
        self._world = world
        self._continue, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._killed = False
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()
        self.step()

    def step(self) -> None:
        """Continue to just before the next call, or to the end."""
        self._world.gate.watch = self._stop
        self._continue.release()
        self._stopped.acquire()

    def kill(self) -> None:
        """Kill the process where it has stopped."""
        if not self.done:
            self._killed = True
            self.step()

    def run_to(self, call: str) -> None:
        """Continue to just before a call with this name."""
        while not self.done and self.at != call:
            self.step()

    def finish(self) -> None:
        """Continue to the end."""
        while not self.done:
            self.step()

    def _stop(self, call: str) -> None:
        self.at = call
        self._stopped.release()
        self._continue.acquire()
        if self._killed:
            raise Killed

    def _run(self, work: Callable[[], object]) -> None:
        self._continue.acquire()
        try:
            self.result = work()
        except BaseException as error:  # noqa: BLE001  the test reads it
            self.error = error
        self.done = True
        self._stopped.release()
