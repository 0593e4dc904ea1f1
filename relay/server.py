"""The server: one listening socket, its connections, and a shutdown that loses nothing."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable
from typing import Final

from relay.connection import Connection
from relay.limits import ConnectionLimiter
from relay.proxy import Networks
from relay.session import ServerContext

#: Seconds between two looks at the clock for all connections: cheaper than a timer each.
_TICK: Final = 1.0
_SOON: Final = 0.05
_BACKLOG: Final = 512


class Server:
    """Serves sessions on a socket until it is drained."""

    def __init__(
        self, house: ServerContext, tls: Callable[[], ssl.SSLContext], proxies: Networks = ()
    ) -> None:
        self._house = house
        self._tls = tls
        self._proxies = proxies
        self._doors = ConnectionLimiter(house.limits)
        self._connections: set[Connection] = set()
        self._listening: asyncio.Server | None = None
        self._clock: asyncio.Task[None] | None = None

    async def start(self, listener: socket.socket) -> None:
        """Listen; connections that wait already are taken."""
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(self._connect, sock=listener, backlog=_BACKLOG)
        self._clock = asyncio.create_task(self._watch())

    async def drain(self) -> None:
        """Listen no more, send the idle away, and wait for the others, up to the limit."""
        if self._listening is None or self._clock is None:
            return
        self._listening.close()
        for connection in tuple(self._connections):
            connection.drain()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._house.limits.drain):
                while self._connections:  # noqa: ASYNC110  once in a server's life
                    await asyncio.sleep(_SOON)
        for connection in tuple(self._connections):
            connection.abort()
        self._clock.cancel()

    def _connect(self) -> Connection:
        return Connection(self._house, self._doors, self._proxies, self._tls, self._connections)

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_TICK)
            now = loop.time()
            for connection in tuple(self._connections):
                connection.check_time(now)
