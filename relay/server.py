"""The server: a listening socket, its connections, and a shutdown that loses no message."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable
from typing import Final

from relay import replies
from relay.connection import Connection
from relay.proxy import Networks
from relay.session import ServerContext

#: Seconds between two checks of all deadlines. One timer for each connection would cost more.
_CHECK_INTERVAL: Final = 1.0
#: Seconds between two checks whether a drain is done.
_DRAIN_INTERVAL: Final = 0.05
#: Seconds that a call has to end after a drain. ECS kills the container 20 seconds after it
#: (stacks/relay.yaml).
LAST_CALL: Final = 15.0
#: Seconds that a client has to read the 421 at the end of a drain.
LAST_REPLY: Final = 2.0
_BACKLOG: Final = 512


class Server:
    """Serves SMTP sessions on a socket until it is drained."""

    def __init__(
        self,
        context: ServerContext,
        tls_context: Callable[[], ssl.SSLContext],
        proxies: Networks = (),
    ) -> None:
        self._context = context
        self._tls_context = tls_context
        self._proxies = proxies
        self._connections: set[Connection] = set()
        self._listening: asyncio.Server | None = None
        self._deadline_task: asyncio.Task[None] | None = None

    async def start(self, listener: socket.socket) -> None:
        """Accept connections, also those that wait already."""
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(self._connect, sock=listener, backlog=_BACKLOG)
        self._deadline_task = asyncio.create_task(self._check_periodically())

    async def drain(self) -> None:
        """Stop listening, close idle connections, and wait for the others up to the drain limit."""
        if self._listening is None or self._deadline_task is None:
            return
        self._listening.close()
        for connection in tuple(self._connections):
            connection.drain()
        await self._wait(self._context.limits.drain, lambda: self._connections)
        # A message that is being accepted still gets its reply, or its client would send it again.
        for connection in tuple(self._connections):
            if not connection.is_in_call:
                connection.disconnect(replies.SHUTTING_DOWN)
        await self._wait(LAST_CALL, lambda: any(one.is_in_call for one in self._connections))
        await self._wait(LAST_REPLY, lambda: self._connections)
        for connection in tuple(self._connections):
            connection.abort()
        self._deadline_task.cancel()

    def check_deadlines(self) -> None:
        """End the connections whose deadline has passed."""
        now = self._context.clock()
        for connection in tuple(self._connections):
            connection.check_deadline(now)

    async def _wait(self, seconds: float, is_needed: Callable[[], object]) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while is_needed():  # noqa: ASYNC110  runs once, at shutdown
                    await asyncio.sleep(_DRAIN_INTERVAL)

    def _connect(self) -> Connection:
        return Connection(self._context, self._proxies, self._tls_context, self._connections)

    async def _check_periodically(self) -> None:
        while True:
            await asyncio.sleep(_CHECK_INTERVAL)
            self.check_deadlines()
