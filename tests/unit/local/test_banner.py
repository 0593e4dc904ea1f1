"""What the local stack prints when it is ready can be copied from a narrow terminal."""

import asyncio
import io
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from local import banner, dashboard
from local.dashboard_build import DashboardBuild
from pillarbox.domain.accounts.key import KeyType, new_key_text

LINK = "http://127.0.0.1:18080/app/sign-in#zgka342aq75h52we8bdfmyys5njrm1t4"
STATE: dict[str, Any] = {
    "base_url": "http://127.0.0.1:18080",
    "inbox_url": "http://127.0.0.1:18025",
    "smtp": {"host": "127.0.0.1", "port": 15870},
    "dashboard_link": LINK,
    "keys": {
        "live": new_key_text("l" * 12, KeyType.LIVE),
        "live_free": new_key_text("f" * 12, KeyType.LIVE),
        "preview": new_key_text("p" * 12, KeyType.PREVIEW),
    },
    "template_id": "0198f2a4-5b6c-7d8e-9f01-23456789abcd",
    "webhook": {"url": "http://127.0.0.1:18025/hooks/" + "s" * 40},
}
LOG = Path("/home/ada/a folder with a long name/and another one/pillarbox/.local/engine.log")


def _console() -> Console:
    return Console(file=io.StringIO(), width=80)


def _lines(console: Console) -> list[str]:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


@pytest.fixture(autouse=True)
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page that says whether there is a dashboard; there is none yet."""
    index = tmp_path / "index.html"
    monkeypatch.setattr(dashboard, "is_built", index.exists)
    return index


def test_each_value_is_whole_at_80_columns(index: Path) -> None:
    index.touch()
    console = _console()
    banner.show(console, STATE, LOG)
    lines = _lines(console)
    for value in (
        LINK,
        "http://127.0.0.1:18080/api/v1",
        "http://127.0.0.1:18080/docs",
        "http://127.0.0.1:18025",
        STATE["keys"]["live"],
    ):
        assert [line for line in lines if line.endswith(f"  {value}")], value
    email = banner.first_email(STATE["base_url"], STATE["keys"]["live"]).splitlines()
    assert lines[lines.index(email[0]) :][: len(email)] == email
    assert max(map(len, email)) <= 80
    assert json.loads(shlex.split("\n".join(email))[-1])["variables"] == {"name": "Ada"}
    (source,) = (line for line in lines if line.startswith("source "))
    assert shlex.split(source) == ["source", str(LOG.parent / "env")]


async def _build(console: Console, log: Path, *, succeeds: bool) -> list[str]:
    """Show the banner while a build runs; return what is printed before its end."""
    end = asyncio.Event()

    async def run() -> bool:
        await end.wait()
        return succeeds

    build = DashboardBuild(log, asyncio.create_task(run()))
    banner.show(console, STATE, LOG, build)
    before = _lines(console)
    end.set()
    await build.ended
    await asyncio.sleep(0)
    return before


def test_the_link_follows_a_build(tmp_path: Path) -> None:
    console = _console()
    before = asyncio.run(_build(console, tmp_path / "log", succeeds=True))
    assert not [line for line in before if LINK in line]
    assert _lines(console)[len(before) :] == ["", f"Dashboard    {LINK}"]
    # With a line of make's and one of the start's.
    assert len(_lines(console)) <= 18


@pytest.mark.parametrize("has_older", [False, True])
def test_a_failed_build_says_why(tmp_path: Path, index: Path, *, has_older: bool) -> None:
    log = tmp_path / "log"
    log.write_text("Resolved\nnpm error code ECONNREFUSED\nnpm error errno\n")
    if has_older:
        index.touch()
    console = _console()
    before = asyncio.run(_build(console, log, succeeds=False))
    after = _lines(console)[len(before) :]
    assert "The dashboard was not built: npm error code ECONNREFUSED" in after
    assert (f"Dashboard    {LINK}" in after) is has_older


def test_a_stop_says_nothing_of_the_build(tmp_path: Path) -> None:
    async def stop(console: Console) -> list[str]:
        build = DashboardBuild(
            tmp_path / "log", asyncio.create_task(asyncio.sleep(60, result=True))
        )
        banner.show(console, STATE, LOG, build)
        before = _lines(console)
        build.ended.cancel()
        await asyncio.wait([build.ended])
        await asyncio.sleep(0)
        return before

    console = _console()
    before = asyncio.run(stop(console))
    assert _lines(console) == before


def test_a_start_says_what_takes_long(tmp_path: Path) -> None:
    async def start(console: Console) -> None:
        build = DashboardBuild(tmp_path / "log", asyncio.create_task(asyncio.sleep(0, result=True)))
        banner.show_start(console, build, is_first=True)
        banner.show_start(console, None, is_first=False)

    console = _console()
    asyncio.run(start(console))
    assert _lines(console) == [
        "Starting the stack, and building the dashboard beside it, for about a minute …",
        "Starting the stack …",
    ]


def test_without_a_build_the_banner_says_what_makes_one() -> None:
    console = _console()
    banner.show(console, STATE, LOG)
    assert "Dashboard    is not built; see why with: make dashboard" in _lines(console)
