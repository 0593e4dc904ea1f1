"""Several processes on one port: the kernel shares the connections out (SO_REUSEPORT).

Each is a server of its own, with its own share of the limits; a certificate that is renewed,
each finds by itself. A session ticket is good with the process that gave it.
"""

import asyncio
import logging
import signal
import sys
from collections.abc import Mapping
from typing import Final

_LOG: Final = logging.getLogger("relay")
#: In seconds: a process that cannot even start is not started again at once.
_PAUSE: Final = 1.0


async def launch(processes: int, environment: Mapping[str, str]) -> None:
    """Keep a number of servers running until SIGTERM or SIGINT, and let them finish.

    Args:
        processes: how many.
        environment: theirs; it says that each is one of many.
    """
    stop = asyncio.Event()
    running: set[asyncio.subprocess.Process] = set()

    def pass_on(number: signal.Signals) -> None:
        if number is not signal.SIGHUP:
            stop.set()
        for process in running:
            process.send_signal(number)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, pass_on, number)

    async def keep_one() -> None:
        while not stop.is_set():
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "relay"), env=environment, start_new_session=True
            )
            running.add(process)
            if stop.is_set():  # the signal came while it was being started
                process.terminate()
            status = await process.wait()
            running.discard(process)
            if not stop.is_set():
                _LOG.error("a process ended", extra={"error": f"exit status {status}"})
                await asyncio.sleep(_PAUSE)

    await asyncio.gather(*(keep_one() for _ in range(processes)))
