"""Messages that are ready at the same time are accepted in one call.

The first and the second message of a key are submitted at once, each alone. A message that
is ready while two calls are running waits until one of them ends. Then all waiting messages go
together, so no message waits for others that may never come. Each submitter gets the
outcome of its own message as soon as the call that contained it has ended.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

#: Messages in one call: two SQS batches, and one call that puts their records.
MAX_BATCH_SIZE: Final = 20
#: Calls running at a time for one key. With one call there would be a third fewer calls but a
#: third more delay, since a message that is ready just after a call began waits for all of it.
#: With three there would be more calls and hardly less delay.
MAX_CONCURRENT_CALLS: Final = 2


@dataclass(slots=True)
class _Queue[T, R]:
    """The arguments that wait, each with its future, and the number of running calls."""

    waiting: list[tuple[T, asyncio.Future[R]]] = field(default_factory=list)
    calls: int = 0


class SubmissionBatcher[T, R]:
    """Combine single submissions into calls with several arguments.

    Args:
        call: takes a key and the arguments submitted under it; returns for each argument its
            result or the error to raise. An error that it raises itself goes to all of them.
    """

    def __init__(
        self, call: Callable[[str, Sequence[T]], Awaitable[Sequence[R | Exception]]]
    ) -> None:
        self._call = call
        self._queues: dict[str, _Queue[T, R]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, key: str, argument: T) -> R:
        """Return the result for an argument, which may share a call with others of its key."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        queue = self._queues.setdefault(key, _Queue())
        queue.waiting.append((argument, future))
        if queue.calls < MAX_CONCURRENT_CALLS:
            queue.calls += 1
            task = asyncio.create_task(self._process(key, queue))
            # The event loop holds only a weak reference to a task.
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await future

    async def _process(self, key: str, queue: _Queue[T, R]) -> None:
        """Make one call after another until nothing waits."""
        while queue.waiting:
            batch, queue.waiting = queue.waiting[:MAX_BATCH_SIZE], queue.waiting[MAX_BATCH_SIZE:]
            outcomes = await self._make_call(key, [argument for argument, _ in batch])
            for (_, future), outcome in zip(batch, outcomes, strict=True):
                if future.cancelled():
                    continue
                if isinstance(outcome, Exception):
                    future.set_exception(outcome)
                else:
                    future.set_result(outcome)
        queue.calls -= 1
        if not queue.calls:
            del self._queues[key]

    async def _make_call(self, key: str, arguments: Sequence[T]) -> Sequence[R | Exception]:
        try:
            return await self._call(key, arguments)
        except Exception as error:  # noqa: BLE001  each submitter raises it
            return [error] * len(arguments)
