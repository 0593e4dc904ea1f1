"""Who listens to what a store gets."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress


class Listeners[Item]:
    """Passes items to all who listen; used on the event loop alone.

    `closing` is set when the stack ends.
    """

    def __init__(self) -> None:
        self.closing = asyncio.Event()
        self._queues: set[asyncio.Queue[Item]] = set()

    def notify(self, item: Item) -> None:
        """Send an item to all who listen now."""
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
