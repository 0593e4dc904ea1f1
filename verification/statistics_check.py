"""The end of every long run on a local stack: are the statistics right?"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
#: Seconds between two looks at statistics that are behind.
_PAUSE: Final = 5


def wrong_statistics(state: Path, account_ids: Iterable[str], patience: float) -> int:
    """Return how many accounts of a running local stack have wrong statistics.

    It runs `pillarbox stats verify`. Statistics that are wrong or behind get some seconds to
    become right, because the stream may still deliver changes.

    Args:
        state: the state directory of the stack.
        account_ids: the accounts.
        patience: the seconds to wait for all of them.
    """
    deadline = time.monotonic() + patience
    wrong = set(account_ids)
    while True:
        wrong = {account_id for account_id in wrong if not _is_right(state, account_id)}
        if not wrong or time.monotonic() > deadline:
            return len(wrong)
        time.sleep(_PAUSE)


def _is_right(state: Path, account_id: str) -> bool:
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from admin.main import main; main()"),
            *("--local", "--json", "stats", "verify", "--account", account_id),
        ],
        cwd=ROOT,
        env=os.environ | {"PILLARBOX_STATE_DIR": str(state)},
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        print(done.stderr, file=sys.stderr, flush=True)  # noqa: T201  a run by hand
        return False
    report: dict[str, Any] = json.loads(done.stdout)
    return bool(report["right"]) and not report["behind"]
