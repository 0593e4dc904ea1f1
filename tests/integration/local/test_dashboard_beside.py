"""The stack builds the dashboard beside itself, and ends the build when it stops."""

import asyncio
import os
from pathlib import Path

import pytest

from local.dashboard_build import building
from tests.stack import wait_for

OUTDATED = ("false",)


@pytest.mark.parametrize(("status", "succeeded"), [(0, True), (2, False)])
def test_the_result_of_a_build(tmp_path: Path, status: int, *, succeeded: bool) -> None:
    script = f"echo begins; echo 'npm error code X' >&2; echo error Y; exit {status}"

    async def run() -> tuple[bool, str]:
        async with building(tmp_path / "log", OUTDATED, ("sh", "-c", script)) as beside:
            assert beside
            return await beside.ended, beside.reason

    assert asyncio.run(run()) == (succeeded, "npm error code X")


def test_a_stop_ends_the_whole_build(tmp_path: Path) -> None:
    child = tmp_path / "child"

    async def run() -> None:
        script = f"trap '' TERM; sleep 600 & echo $! >{child}.new; mv {child}.new {child}; wait"
        async with building(tmp_path / "log", OUTDATED, ("sh", "-c", script)) as beside:
            assert beside
            await asyncio.to_thread(wait_for, child.exists)

    asyncio.run(run())
    wait_for(lambda: not _runs(int(child.read_text())))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]


def test_a_current_dashboard_is_not_built(tmp_path: Path) -> None:
    async def run() -> None:
        command = ("touch", str(tmp_path / "built"))
        async with building(tmp_path / "log", ("true",), command) as beside:
            assert beside is None

    asyncio.run(run())
    assert not (tmp_path / "built").exists()
