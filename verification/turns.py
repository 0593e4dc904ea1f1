"""Threads of which one runs at a time. At each switch a seed says which one goes on.

They are greenlets: a switch between threads of the system would take most of a run's time.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from greenlet import getcurrent, greenlet


@dataclass(eq=False)
class _Life:
    """What ends all threads of a process when one of them dies."""

    death: BaseException | None = None


@dataclass(eq=False)
class _Thread:
    call: Callable[[], Any]
    life: _Life
    #: Where it goes on. The caller's may begin after its turns were made, so each wait sets it.
    runs_in: greenlet = field(default_factory=getcurrent)
    result: Any = None
    done: bool = False
    #: Returns whether the thread can go on.
    can_go_on: Callable[[], bool] = lambda: True
    #: When it goes on in any case.
    wakes_at: datetime | None = None
    #: Whether it waits for threads that it started, which end first.
    is_parent: bool = False


class Turns:
    """The turns of some threads: that of the caller, and those that it starts.

    Args:
        choose: chooses the thread that goes on.
        now: returns the simulated time.
        pass_time: lets some seconds of it pass, when all threads wait.
    """

    def __init__(
        self,
        choose: Callable[[Sequence[Any]], Any],
        now: Callable[[], datetime],
        pass_time: Callable[[float], None],
    ) -> None:
        self._choose, self._now, self._pass_time = choose, now, pass_time
        self._running = _Thread(lambda: None, _Life())
        self._live = [self._running]

    def together(self, calls: Sequence[Callable[[], Any]], *, apart: bool = False) -> list[Any]:
        """Make calls in threads; if one dies, so do the others, unless they are processes `apart`.

        A thread that raises an error other than `Exception` dies.
        """
        me = self._running
        threads = [_Thread(call, _Life() if apart else me.life) for call in calls]
        for thread in threads:
            thread.runs_in = greenlet(partial(self._run, thread))
        self._live += threads
        me.is_parent = True
        self._wait(lambda: all(thread.done for thread in threads))
        me.is_parent = False
        self._check(me)
        return [thread.result for thread in threads]

    def switch(self) -> None:
        """Let another thread go on, or the same one."""
        self._wait(lambda: True)

    def wait(self, condition: Callable[[], bool], seconds: float | None = None) -> None:
        """Let others go on until a condition is true, or some time has passed."""
        self._wait(condition, None if seconds is None else timedelta(seconds=seconds))

    def sleep(self, seconds: float) -> None:
        """Let others go on for some time."""
        self.wait(lambda: False, seconds)

    def _wait(self, can_go_on: Callable[[], bool], longest: timedelta | None = None) -> None:
        me = self._running
        me.can_go_on = can_go_on
        me.wakes_at = None if longest is None else self._now() + longest
        if (chosen := self._next()) is not me:
            me.runs_in, self._running = getcurrent(), chosen
            chosen.runs_in.switch()
        self._check(me)

    def _next(self) -> _Thread:
        ready = [thread for thread in self._live if self._is_ready(thread)]
        if not ready:
            moment = min(thread.wakes_at for thread in self._live if thread.wakes_at)
            self._pass_time((moment - self._now()).total_seconds())
            ready = [thread for thread in self._live if thread.wakes_at == moment]
        chosen: _Thread = self._choose(ready)
        return chosen

    def _is_ready(self, thread: _Thread) -> bool:
        if thread.life.death and not thread.is_parent:
            return True
        is_due = thread.wakes_at is not None and self._now() >= thread.wakes_at
        return is_due or thread.can_go_on()

    def _check(self, thread: _Thread) -> None:
        if thread.life.death and not thread.is_parent:
            raise type(thread.life.death)

    def _run(self, thread: _Thread, *_: None) -> None:
        try:
            self._check(thread)
            thread.result = thread.call()
        except BaseException as error:  # noqa: BLE001  the thread that started it raises it
            thread.life.death = error
        thread.done = True
        self._live.remove(thread)
        self._running = self._next()
        # The parent goes on when a greenlet ends, and gets its result if it has not begun yet.
        thread.runs_in.parent = self._running.runs_in


class Pool(ThreadPoolExecutor):
    """Takes the place of the standard library's pool of threads."""

    def __init__(self, turns: Turns) -> None:
        super().__init__(1)
        self._turns = turns

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], **_: Any) -> Iterator[Any]:
        """Call a function with each argument at the same time."""
        return iter(
            self._turns.together([partial(fn, *each) for each in zip(*iterables, strict=True)])
        )


class Event(threading.Event):
    """Takes the place of an event of the standard library, and waits in simulated time."""

    def __init__(self, turns: Turns) -> None:
        super().__init__()
        self._turns = turns

    def wait(self, timeout: float | None = None) -> bool:
        """Let others go on until the event is set."""
        self._turns.wait(self.is_set, timeout)
        return self.is_set()
