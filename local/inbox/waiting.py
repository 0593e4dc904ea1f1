"""Requests that wait until there is something to answer."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sized
from contextlib import suppress
from typing import Final

#: In seconds, between two looks.
_INTERVAL: Final = 0.1


async def look_until_found[T: Sized](
    look: Callable[[], Awaitable[T]], seconds: float, closing: asyncio.Event
) -> T:
    """Return what a look finds; if it is empty, look again until the time or the stack ends."""
    deadline = time.monotonic() + seconds
    while True:
        found = await look()
        left = deadline - time.monotonic()
        if found or left <= 0 or closing.is_set():
            return found
        with suppress(TimeoutError):
            await asyncio.wait_for(closing.wait(), min(left, _INTERVAL))
