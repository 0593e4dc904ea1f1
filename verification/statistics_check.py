"""The end of every long run on a local stack: are the statistics right?"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
#: Seconds between two looks at statistics that are behind.
_PAUSE: Final = 5


def wrong_statistics(state: Path, patience: float) -> int:
    """Return how many accounts of a running local stack have wrong statistics.

    It runs `pillarbox stats verify`. Statistics that are wrong or behind get some seconds to
    become right, because the stream may still deliver changes.

    Args:
        state: the state directory of the stack.
        patience: the seconds to wait.
    """
    deadline = time.monotonic() + patience
    while (wrong := _wrong_accounts(state)) and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    return wrong


def _wrong_accounts(state: Path) -> int:
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from admin.main import main; main()"),
            *("--local", "--json", "stats", "verify"),
        ],
        cwd=ROOT,
        env=os.environ | {"PILLARBOX_STATE_DIR": str(state)},
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:  # the stack is busy, or gone
        print(done.stderr, file=sys.stderr, flush=True)  # noqa: T201  a run by hand
        return 1
    reports: list[dict[str, Any]] = json.loads(done.stdout)["items"]
    return sum(not report["right"] or report["behind"] > 0 for report in reports)
