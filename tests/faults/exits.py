# ruff: noqa: T201  a program that is run by hand prints what it found
"""Processes that really die: `os._exit` in the middle of a call (`make faults`).

The other runs let an exception stand for a process's death. Here an accepting process is
one of its own and ends at a call, before or after it took effect; then its client tries
again, and everything goes to rest as in the other runs.
"""

import json
import os
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Final
from unittest import mock

from pillarbox import wiring
from pillarbox.domain.message import Status
from tests.fakes.builders import request
from tests.faults.engine import running
from tests.faults.processes import Send
from tests.faults.runs import PATHS
from tests.faults.system import System
from tests.faults.verdict import Verdict, judge
from tests.faults.wire import Fault, Kind, When, Wire

ROOT: Final = Path(__file__).parents[2]
#: The keyed path's calls while accepting: read, claim, quota, queue, commit.
CALLS: Final = 5
DIED: Final = 9


def main() -> int:
    """Give 1 when a promise was broken."""
    total, tried = Verdict(), 0
    with tempfile.TemporaryDirectory(prefix="exits-") as state, running(Path(state)) as system:
        for position in range(CALLS):
            for when in ("before", "after"):
                total, tried = total + _one(system, position, when), tried + 1
    print(f"real exits: faults tried {tried}, {total}")
    return int(bool(total))


def _one(system: System, position: int, when: str) -> Verdict:
    system.begin()
    path = PATHS[2]
    send = path.send()
    work = {
        "now": system.now.isoformat(),
        "key": system.key,
        "digest": send.digest,
        "subject": send.mails[0].subject,
        "hash": send.mails[0].body_hash,
        "position": position,
        "when": when,
    }
    died = subprocess.run(
        [sys.executable, "-m", "tests.faults.exits", json.dumps(work)], cwd=ROOT, check=False
    )
    assert died.returncode == DIED, died
    send.unheard = True
    system.look()
    system.after(36, lambda: system.client(send))
    at_rest = system.rest()
    return judge(
        system,
        {send.mails[0].subject or "": {Status.DELIVERED}},
        at_rest=at_rest,
        exact=False,
        spool=True,
    )


def die(work: dict[str, str]) -> None:
    """Accept a mail, and end this process at a call."""
    when: When = "before" if work["when"] == "before" else "after"
    position = int(work["position"])
    mail = request(subject=work["subject"], body_hash=work["hash"])
    wire = Wire(lambda _seconds: None, die=lambda: os._exit(DIED))
    wire.plan = lambda number, _name: Fault(Kind.KILL, when) if number == position else None
    wire.live = True
    now = datetime.fromisoformat(work["now"])
    with mock.patch.object(wiring, "utc_now", return_value=now), wire.patched():
        Send((mail,), work["digest"], ()).submit(work["key"])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        die(json.loads(sys.argv[1]))
    else:
        sys.exit(main())
