"""A plugin of pytest that notes the processor time of each phase, programs that it starts included.

    PILLARBOX_DURATIONS=/tmp/phases .venv/bin/pytest -n0 -p benchmarks.durations tests/unit

On Linux each process appends to the file: seconds, phase, test. Unlike wall time they say something
on a busy machine. What the local stack does counts for the worker that started it.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

_FILE: Final = Path(os.environ["PILLARBOX_DURATIONS"])
_TICKS: Final = os.sysconf("SC_CLK_TCK")
#: In seconds: what took less is left out.
_LEAST: Final = 0.1


def _spent(process: str = "self") -> float:
    """Return the seconds of a process, of those that it has waited for, and of its children."""
    seconds = 0.0
    with suppress(OSError):  # it has ended meanwhile
        folder = Path("/proc", process)
        times = (folder / "stat").read_text().rpartition(")")[2].split()[11:15]
        seconds = sum(map(int, times)) / _TICKS
        for thread in (folder / "task").iterdir():
            seconds += sum(map(_spent, (thread / "children").read_text().split()))
    return seconds


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    return (yield from _noted("setup", item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    return (yield from _noted("call", item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    return (yield from _noted("teardown", item))


def _noted(phase: str, item: pytest.Item) -> Iterator[None]:
    before = _spent()
    try:
        return (yield)
    finally:
        seconds = _spent() - before
        if seconds >= _LEAST:
            with _FILE.open("a", encoding="utf-8") as file:
                file.write(f"{seconds:.2f} {phase} {item.listchain()[-2].nodeid}::{item.name}\n")
