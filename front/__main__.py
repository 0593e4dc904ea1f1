"""`python -m front`: serve until SIGTERM, then finish what is under way."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import Final

import uvicorn

from front import settings
from front.app import Front
from front.settings import FrontSettings
from front.workers import WorkerDied, Workers
from pillarbox.settings import SettingError, Settings

#: In seconds, longer than the load balancer keeps a connection (60): it must not send a request
#: on one that is just being closed.
_KEEP_ALIVE: Final = 75


class _FrontServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End by ourselves: uvicorn would raise the signal again when it has finished."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, setattr, self, "should_exit", True)
        yield


def main() -> int:
    """Run the front; 0 after a signal, 1 if the handlers cannot start, 2 if a setting is wrong."""
    try:
        found = settings.read(Settings(os.environ))
    except SettingError as error:
        print(error, file=sys.stderr)  # noqa: T201  there is no log yet
        return 2
    try:
        asyncio.run(serve(found))
    except WorkerDied:
        print("the handlers do not start", file=sys.stderr)  # noqa: T201  they said why
        return 1
    return 0


async def serve(found: FrontSettings) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        WorkerDied: the handlers do not start.
    """
    async with Workers(found.workers) as workers:
        config = uvicorn.Config(
            Front(workers, found.edge_secret, found.memory),
            host=found.host,
            port=found.port,
            access_log=False,
            date_header=True,
            lifespan="off",
            log_level="warning",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=found.drain_seconds,
            timeout_keep_alive=_KEEP_ALIVE,
        )
        await _FrontServer(config).serve()


if __name__ == "__main__":
    sys.exit(main())
