"""The HTTP front beside the local API, in a process of its own as in its container."""

import asyncio
import contextlib
import os
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Final

import httpx

from local import processes, template
from local.edge import FrontOrigin
from pillarbox.settings import Settings

_HOST: Final = "127.0.0.1"
#: In seconds, on a machine that is busy with other things.
_STARTS_WITHIN: Final = 60.0
_GRACE: Final = 5.0


class FrontFailed(Exception):
    """The front did not start; its log says why."""


@contextlib.asynccontextmanager
async def serving(
    state: Path, client: httpx.AsyncClient, environment: Mapping[str, str]
) -> AsyncIterator[FrontOrigin]:
    """Run the front for the time of a block, on any free port.

    `environment` has the settings of its handlers.

    Raises:
        FrontFailed: it ended at its start, or was silent for too long.
    """
    with socket.socket() as free:
        free.bind((_HOST, 0))
        port = free.getsockname()[1]
    front = FrontOrigin(f"http://{_HOST}:{port}", secrets.token_hex(32))
    record = state / "front.json"
    with (state / "front.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "front"),
            cwd=template.ROOT,
            env=os.environ
            | environment
            | {
                Settings.edge_secret.variable: front.secret,
                Settings.front_drain_seconds.variable: "2",
                Settings.front_host.variable: _HOST,
                Settings.front_port.variable: str(port),
                "POWERTOOLS_SERVICE_NAME": "pillarbox",
            },
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # Ctrl-C is for the stack, which then ends the front in its order.
            start_new_session=True,
        )
    processes.remember(record, process.pid)
    try:
        await _healthy(front, client, process)
        yield front
    finally:
        if process.returncode is None:
            process.terminate()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _GRACE)
        processes.kill_group(process.pid)
        await process.wait()
        record.unlink(missing_ok=True)


async def _healthy(
    front: FrontOrigin, client: httpx.AsyncClient, process: asyncio.subprocess.Process
) -> None:
    try:
        async with asyncio.timeout(_STARTS_WITHIN):
            while True:
                with contextlib.suppress(httpx.TransportError):
                    await client.get(f"{front.url}/health")
                    return
                if process.returncode is not None:
                    raise FrontFailed("The front ended at its start.")
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise FrontFailed("The front does not answer.") from None
