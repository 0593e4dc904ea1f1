"""A start that fails or is interrupted early prints one line."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]


@pytest.mark.parametrize("port", ["abc", "-1", "65536"])
@pytest.mark.parametrize(
    "variable", ["PILLARBOX_PORT", "PILLARBOX_INBOX_PORT", "PILLARBOX_SMTP_PORT"]
)
def test_an_invalid_port(tmp_path: Path, variable: str, port: str) -> None:
    """An invalid port gives one line that names the variable, and no state."""
    state = tmp_path / "state"
    done = subprocess.run(
        [sys.executable, "-m", "local"],
        cwd=ROOT,
        env=os.environ | {variable: port, "PILLARBOX_STATE_DIR": str(state)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == f"{variable} must be a port from 0 to 65535, not '{port}'\n"
    assert not state.exists()


def test_an_interrupt_while_modules_are_imported(tmp_path: Path) -> None:
    """Ctrl-C in the first second gives one line, not a traceback."""
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
