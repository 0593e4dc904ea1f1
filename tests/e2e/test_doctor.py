"""The operator's doctor on a whole stack, with a mail that goes all the way round."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.stack

ROOT = Path(__file__).parents[2]


def test_the_running_stack_is_well(stack: dict[str, Any]) -> None:
    """Every check passes or says why it cannot be made here; the mail comes back delivered."""
    done = subprocess.run(
        [
            *(ROOT / ".venv" / "bin" / "pillarbox", "--local", "--json"),
            *("doctor", "--send", "--account", stack["accounts"]["live"]),
        ],
        env={"PILLARBOX_STATE_DIR": str(ROOT / ".local" / "tests"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=False,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts: dict[str, str] = {
        each["check"]: each["verdict"] for each in json.loads(done.stdout)["items"]
    }
    passed = {name for name, verdict in verdicts.items() if verdict == "pass"}
    assert passed == {"address", "sending", "events", "queues", "relay", "mail"}
    assert set(verdicts.values()) == {"pass", "skipped"}
