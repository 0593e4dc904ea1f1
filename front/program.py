"""The program: serve until SIGTERM, then finish the requests in progress."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Iterator

import uvicorn

from front import settings
from front.app import Front
from front.protocol import IDLE_TIMEOUT, Protocol
from front.settings import FrontSettings
from front.workers import WorkerDied, Workers
from pillarbox.observability import make_logger
from pillarbox.settings import SettingError, Settings


class _FrontServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle the signals here, since uvicorn would raise them again after its shutdown."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, setattr, self, "should_exit", True)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and log it."""
        await super().startup(sockets)
        make_logger().info("listening", extra={"port": self.config.port})


def main() -> int:
    """Run the front. Return 0 after a signal, 1 if no handler starts, 2 if a setting is wrong."""
    try:
        front_settings = settings.read(Settings(os.environ))
    except SettingError as error:
        print(error, file=sys.stderr)  # noqa: T201  the log is not set up yet
        return 2
    try:
        asyncio.run(serve(front_settings))
    except WorkerDied:
        print("the handlers do not start", file=sys.stderr)  # noqa: T201  their own output says why
        return 1
    return 0


async def serve(front_settings: FrontSettings) -> None:
    """Serve until SIGTERM or SIGINT."""
    async with Workers(front_settings.workers) as workers:
        config = uvicorn.Config(
            Front(workers, front_settings.edge_secret, front_settings.memory),
            host=front_settings.host,
            port=front_settings.port,
            access_log=False,
            date_header=True,
            http=Protocol,
            lifespan="off",
            log_level="warning",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=settings.DRAIN_SECONDS,
            timeout_keep_alive=IDLE_TIMEOUT,
        )
        await _FrontServer(config).serve()
