"""Concurrent processes that make their calls of ports in the order that a test chooses."""

from collections.abc import Callable
from functools import partial
from typing import Final

from greenlet import getcurrent, greenlet

from tests.fakes.world import Killed, World

#: A process that a test leaves stays for ever: if nothing referred to it, its handlers would run.
_STOPPED: "Final[set[Actor]]" = set()


class Actor:
    """A process that stops before each call of a port until the test continues it.

    It is a greenlet, so it never runs at the same time as the test.

    Attributes:
        at: the call before which the process stops.
    """

    def __init__(self, world: World, work: Callable[[], object]) -> None:
        self.at: str | None = None
        self.result: object = None
        self.error: BaseException | None = None
        self.done = False
        self._world = world
        self._killed = False
        self._greenlet = greenlet(partial(self._run, work))
        _STOPPED.add(self)
        self.step()

    def step(self) -> None:
        """Continue to just before the next call, or to the end."""
        self._world.gate.watch = self._stop
        self._greenlet.parent = getcurrent()
        self._greenlet.switch()

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
        parent = self._greenlet.parent
        assert parent is not None
        parent.switch()
        if self._killed:
            raise Killed

    def _run(self, work: Callable[[], object]) -> None:
        try:
            self.result = work()
        except (Exception, Killed) as error:  # noqa: BLE001  the test reads it
            self.error = error
        self.done = True
        _STOPPED.remove(self)
