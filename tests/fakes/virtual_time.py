"""An event loop in which no time passes while a task runs, and none is waited for."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any


class _Selector(selectors.SelectSelector):
    """Skips the time until the next timer, unless a file is ready."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(None if timeout is None else 0)
        if not ready and timeout is not None:
            self.now += max(timeout, 0)
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._time = _Selector()
        super().__init__(self._time)

    def time(self) -> float:
        return self._time.now


def run[T](main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine whose waits end at once, at the times of the loop's own clock."""
    return asyncio.run(main, loop_factory=_Loop)
