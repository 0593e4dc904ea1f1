"""A start that fails or is interrupted early prints one line."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.stack import wait_for

ROOT: Final = Path(__file__).parents[3]


def test_an_invalid_port(tmp_path: Path) -> None:
    state = tmp_path / "state"
    done = subprocess.run(
        [sys.executable, "-m", "local"],
        cwd=ROOT,
        env=os.environ | {"PILLARBOX_INBOX_PORT": "65536", "PILLARBOX_STATE_DIR": str(state)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "PILLARBOX_INBOX_PORT must be a port from 0 to 65535, not '65536'\n"
    assert not state.exists()


def test_a_second_start(tmp_path: Path) -> None:
    """It names the running stack, and what makes a link: the printed one works only once."""
    (tmp_path / "stack.json").write_text('{"base_url": "http://127.0.0.1:1"}')
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            [sys.executable, "-m", "local"],
            cwd=ROOT,
            env=os.environ | {"PILLARBOX_STATE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert (done.returncode, done.stderr) == (
        1,
        (
            "A local stack is already running: http://127.0.0.1:1\n"
            "To sign in: .venv/bin/pillarbox --local dashboard link owner@shop.example\n"
        ),
    )


def test_an_interrupt_while_modules_are_imported(tmp_path: Path) -> None:
    with subprocess.Popen(
        # Writes a line for each import, so that the interrupt comes in the middle of them.
        [sys.executable, "-X", "importtime", "-m", "local"],
        cwd=ROOT,
        env=os.environ | {"PILLARBOX_STATE_DIR": str(tmp_path / "state"), "PILLARBOX_PORT": "0"},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr
        assert any(line.split()[-1] == "asyncio" for line in process.stderr)
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 128 + signal.SIGINT
    lines = [line for line in rest.splitlines() if not line.startswith("import time:")]
    assert lines == ["Stopped before the start."]


#: Imports of Python's own start and of the stack; "" is before the first one.
MARKERS: Final = ("", "site", "signal", "pydantic")


@pytest.mark.parametrize("marker", MARKERS)
def test_an_interrupt_of_make_up(tmp_path: Path, marker: str) -> None:
    with subprocess.Popen(
        # As `make up` does; imports are reported from Python's first one on.
        ["tools/foreground", sys.executable, "-X", "importtime", "-m", "local"],
        cwd=ROOT,
        env=os.environ | {"PILLARBOX_STATE_DIR": str(tmp_path / "state"), "PILLARBOX_PORT": "abc"},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr
        if marker:
            assert any(line.split()[-1] == marker for line in process.stderr)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        rest = process.stderr.read()
    lines = [line for line in rest.splitlines() if not line.startswith("import time:")]
    if not marker and process.returncode == -signal.SIGINT:  # even the shell had not begun
        assert lines == []
    elif not marker and process.returncode == 1:  # on a busy machine it had ended before
        assert "PILLARBOX_PORT" in rest
    else:
        assert process.returncode == 128 + signal.SIGINT
        assert lines in ([], ["Stopped before the start."])


@pytest.mark.parametrize("status", [0, 1, 7])
def test_the_status_of_a_program_in_the_foreground(status: int) -> None:
    command = ["tools/foreground", "sh", "-c", f"echo out; exit {status}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, "out\n", "")


def test_a_program_in_the_foreground_stops_by_itself(tmp_path: Path) -> None:
    program = "trap 'touch stopping; while [ ! -e go ]; do sleep 0.1; done; exit 5' TERM; echo up; "
    program += "while :; do sleep 0.1; done"
    with subprocess.Popen(
        [ROOT / "tools" / "foreground", "sh", "-c", program],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "up\n"
        os.killpg(process.pid, signal.SIGINT)
        wait_for((tmp_path / "stopping").exists)
        assert process.poll() is None
        (tmp_path / "go").touch()
        assert process.wait(timeout=120) == 5
