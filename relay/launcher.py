"""Several processes on one port: the kernel distributes the connections (SO_REUSEPORT).

Each process is a separate server with its own share of the limits, and reloads a renewed
certificate on its own. A TLS session ticket is valid only with the process that issued it.
"""

import asyncio
import logging
import signal
import sys
from typing import Final

#: The argument that tells a server that it is one of several.
ONE_OF_MANY: Final = "--one-of-many"
_LOG: Final = logging.getLogger("relay")
#: Seconds before a process that ended is replaced, in case it cannot even start.
_RESTART_DELAY: Final = 1.0


async def launch(processes: int) -> None:
    """Keep several servers running until SIGTERM or SIGINT, then wait until they have finished."""
    stop = asyncio.Event()
    running: set[asyncio.subprocess.Process] = set()

    def forward(number: signal.Signals) -> None:
        if number is not signal.SIGHUP:
            stop.set()
        for process in running:
            process.send_signal(number)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, forward, number)

    async def keep_one_running() -> None:
        while not stop.is_set():
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "relay", ONE_OF_MANY), start_new_session=True
            )
            running.add(process)
            if stop.is_set():  # the signal came while the process was starting
                process.terminate()
            status = await process.wait()
            running.discard(process)
            if not stop.is_set():
                _LOG.error("a process ended", extra={"error": f"exit status {status}"})
                await asyncio.sleep(_RESTART_DELAY)

    await asyncio.gather(*(keep_one_running() for _ in range(processes)))
