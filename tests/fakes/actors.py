"""Processes that run at the same time, one call of a port after another, as a test says."""

import threading
from collections.abc import Callable

from tests.fakes.world import Killed, World


class Actor:
    """A process that stops before each call of a port until it is let go on.

    It runs in a thread of its own, but never while the test does.
    """

    def __init__(self, world: World, work: Callable[[], object]) -> None:
        self.at: str | None = None
        self.result: object = None
        self.error: BaseException | None = None
        self.done = False
        self._world = world
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._killed = False
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()
        self.step()

    def step(self) -> None:
        """Go on to just before the next call, or to the end."""
        self._world.gate.watch = self._stop
        self._go.release()
        self._stopped.acquire()

    def kill(self) -> None:
        """Let the process die where it stands."""
        if not self.done:
            self._killed = True
            self.step()

    def run_to(self, call: str) -> None:
        """Go on to just before a call of this name."""
        while not self.done and self.at != call:
            self.step()

    def finish(self) -> None:
        """Go on to the end."""
        while not self.done:
            self.step()

    def _stop(self, call: str) -> None:
        self.at = call
        self._stopped.release()
        self._go.acquire()
        if self._killed:
            raise Killed

    def _run(self, work: Callable[[], object]) -> None:
        self._go.acquire()
        try:
            self.result = work()
        except BaseException as error:  # noqa: BLE001  the test looks at it
            self.error = error
        self.done = True
        self._stopped.release()
