"""A start that fails or is interrupted early prints one line."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from local import start
from tests.stack import wait_for

ROOT: Final = Path(__file__).parents[3]


def started(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Start a stack that cannot; return its status and what it writes to stderr.

    It makes new files private, which would go on in the tests after this one.
    """
    monkeypatch.setattr("sys.argv", ["local"])
    own = os.umask(0o022)
    try:
        return start.main(), capsys.readouterr().err
    finally:
        os.umask(own)


def test_an_invalid_port(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PILLARBOX_INBOX_PORT", "65536")
    monkeypatch.setenv("PILLARBOX_STATE_DIR", str(tmp_path / "state"))
    said = "PILLARBOX_INBOX_PORT must be a port from 0 to 65535, not '65536'\n"
    assert started(capsys, monkeypatch) == (1, said)
    assert not (tmp_path / "state").exists()


def test_a_second_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the running stack, and what makes a link: the printed one works only once."""
    (tmp_path / "stack.json").write_text('{"base_url": "http://127.0.0.1:1"}')
    monkeypatch.setenv("PILLARBOX_STATE_DIR", str(tmp_path))
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, said = started(capsys, monkeypatch)
    assert (code, said.splitlines()) == (
        1,
        [
            "A local stack is already running: http://127.0.0.1:1",
            "To sign in: .venv/bin/pillarbox --local dashboard link owner@shop.example",
        ],
    )


#: Imports of Python's own start and then of the stack; "" is before the first one.
MARKERS: Final = ("", "site", "signal", "asyncio")
STOPPED: Final = ["Stopped before the start."]


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
        assert lines == STOPPED if marker == "asyncio" else lines in ([], STOPPED)


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
