"""`pillarbox doctor` on a whole stack, with a mail that makes the round trip."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.stack

ROOT = Path(__file__).parents[2]


def test_the_running_stack_passes_the_doctor(stack: dict[str, Any]) -> None:
    """Every check passes or is skipped on a local stack, and the test mail is delivered."""
    process = subprocess.run(
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
    assert process.returncode == 0, process.stdout + process.stderr
    verdicts: dict[str, str] = {
        item["check"]: item["verdict"] for item in json.loads(process.stdout)["items"]
    }
    passed = {name for name, verdict in verdicts.items() if verdict == "pass"}
    assert passed == {"address", "sending", "events", "queues", "relay", "mail"}
    assert set(verdicts.values()) == {"pass", "skipped"}
