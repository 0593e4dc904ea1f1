"""Runs the HTTP front beside the local API, in its own process as in its container.

The first large send starts it: with its worker it takes as much memory as the engine.
"""

import asyncio
import contextlib
import os
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

import httpx

from local import processes, template
from local.edge import FrontFailed, FrontOrigin
from pillarbox.settings import Settings

_HOST: Final = "127.0.0.1"
#: Seconds; long enough for a busy machine.
_STARTS_WITHIN: Final = 60.0
#: Seconds between SIGTERM and SIGKILL.
_GRACE: Final = 5.0


@contextlib.asynccontextmanager
async def serving(
    state: Path, client: httpx.AsyncClient, environment: Mapping[str, str]
) -> AsyncIterator[Callable[[], Awaitable[FrontOrigin]]]:
    """Yield what returns the front, and starts it first if it does not run; at the end stop it.

    It raises `FrontFailed` if the front stops during its start, or does not answer in time; the
    next call tries again. `environment` has the settings of the handlers.
    """
    one_at_a_time = asyncio.Lock()
    origin: FrontOrigin | None = None

    async def started() -> FrontOrigin:
        nonlocal origin
        async with one_at_a_time:
            if origin is None:
                running = _running(state, client, environment)
                origin = await parts.enter_async_context(running)
        return origin

    async with contextlib.AsyncExitStack() as parts:
        yield started


@contextlib.asynccontextmanager
async def _running(
    state: Path, client: httpx.AsyncClient, environment: Mapping[str, str]
) -> AsyncIterator[FrontOrigin]:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port = probe.getsockname()[1]
    front = FrontOrigin(f"http://{_HOST}:{port}", secrets.token_hex(32))
    record = state / "front.json"
    with (state / "front.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "front"),
            cwd=template.ROOT,
            env={
                **os.environ,
                **environment,
                Settings.edge_secret.variable: front.secret,
                Settings.host.variable: _HOST,
                Settings.port.variable: str(port),
                "POWERTOOLS_SERVICE_NAME": "pillarbox",
            },
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # Ctrl-C must reach only the stack, which then stops the front in order.
            start_new_session=True,
        )
    processes.remember(record, process.pid)
    try:
        await _wait_until_ready(front, client, process)
        yield front
    finally:
        if process.returncode is None:
            process.terminate()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _GRACE)
        processes.kill_group(process.pid)
        await process.wait()
        record.unlink(missing_ok=True)


async def _wait_until_ready(
    front: FrontOrigin, client: httpx.AsyncClient, process: asyncio.subprocess.Process
) -> None:
    try:
        async with asyncio.timeout(_STARTS_WITHIN):
            while True:
                with contextlib.suppress(httpx.TransportError):
                    await client.get(f"{front.url}/health")
                    return
                if process.returncode is not None:
                    raise FrontFailed("The front stopped during its start.")
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise FrontFailed(
            f"The front did not answer within {_STARTS_WITHIN:.0f} seconds."
        ) from None
