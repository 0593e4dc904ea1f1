"""What tests on the running local stack share."""

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
AGENT = {"User-Agent": "pillarbox-tests/1.0"}
#: Seconds; a slow machine only takes longer.
PATIENCE = 120


def wait_for(look: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Look again and again until there is something; a slow machine only takes longer."""
    late = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < late, "nothing came"
        time.sleep(0.1)
    return found


def operate(*arguments: str) -> Any:
    """Run the operator's command on the stack of the tests."""
    done = subprocess.run(
        [ROOT / ".venv" / "bin" / "pillarbox", "--local", "--json", *arguments],
        env={"PILLARBOX_STATE_DIR": str(ROOT / ".local" / "tests"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout) if done.stdout.strip() else None
