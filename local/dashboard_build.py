"""Builds the dashboard beside the stack, which does not wait for npm."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from local.template import ROOT

type Command = tuple[str, ...]

#: Succeeds if no source is newer than the last build.
CHECK: Final[Command] = (sys.executable, "-m", "dashboard.build", "--lean", "--check")
BUILD: Final[Command] = ("sh", "-c", "exec make --silent lean-dashboard")


@dataclass(frozen=True, slots=True)
class DashboardBuild:
    """A build that runs, or has ended.

    Attributes:
        log: what the build prints.
        ended: the task that waits for its end; the result says whether it succeeded.
    """

    log: Path
    ended: asyncio.Task[bool]

    @property
    def reason(self) -> str:
        """The line of the log that says best why the build failed."""
        lines = self.log.read_text(errors="replace").splitlines()
        errors = [line for line in lines if "error" in line.lower()]
        return next(iter(errors or lines), "no output")


@contextlib.asynccontextmanager
async def building(
    log: Path, check: Command = CHECK, build: Command = BUILD
) -> AsyncIterator[DashboardBuild | None]:
    """Build the dashboard until the end of the block; yield None if the last build is current."""
    if await _run(check, log):
        yield None
        return
    ended = asyncio.create_task(_run(build, log))
    try:
        yield DashboardBuild(log, ended)
    finally:
        ended.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await ended


async def _run(command: Command, log: Path) -> bool:
    """Return whether a command succeeded. If it is cancelled, its processes end too."""
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=ROOT,
            # `make up` set these for its own targets.
            env={name: text for name, text in os.environ.items() if not name.startswith("MAKE")},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        return await process.wait() == 0
    finally:
        if process.returncode is None:
            # npm ignores SIGTERM while it waits. The next build removes what this one leaves.
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
