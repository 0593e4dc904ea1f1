"""Tell pages that are open about each new item of a store."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress


class Listeners[Item]:
    """Sends items to all listeners. Use it on the event loop only.

    `closing` is set when the stack ends.
    """

    def __init__(self) -> None:
        self.closing = asyncio.Event()
        self._queues: set[asyncio.Queue[Item]] = set()

    def notify(self, item: Item) -> None:
        """Send an item to all current listeners."""
        for queue in self._queues:
            queue.put_nowait(item)

    async def arrivals(self) -> AsyncGenerator[Item]:
        """Yield each item that is sent from now on, until the stack ends."""
        queue: asyncio.Queue[Item] = asyncio.Queue()
        self._queues.add(queue)
        if self.closing.is_set():
            queue.shutdown()
        try:
            with suppress(asyncio.QueueShutDown):
                while True:
                    yield await queue.get()
        finally:
            self._queues.discard(queue)

    def close(self) -> None:
        """End listening, so that the servers can stop."""
        self.closing.set()
        for queue in self._queues:
            queue.shutdown()
