# ruff: noqa: T201  a program that is run by hand prints its results
"""Overload a local stack, and look for each acknowledged message in every place.

Clients send over HTTP, one by one and in batches, and over SMTP, each as fast as it gets answers,
while busy loops take the processors. All ids are kept. When the queues are empty, each
acknowledged message must be in the table, the list, the filters by status and by time, the
analytics and the inbox, each once. `stats verify` comes last. The last run leaves its ids and the
log of its engine in .local/overload.
"""

import argparse
import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from unittest import mock

from admin.wiring import OperatorWiring
from pillarbox.settings import Settings
from verification.overload.clients import Answers, Sending
from verification.overload.views import History, Inbox, compare, recorded
from verification.stack import ROOT, depth, new_sender, running, wrong_statistics

STATE: Final = ROOT / ".local" / "overload"
_SENDER: Final = "shop@overload.example"
#: Seconds between two looks at queues and statistics.
_LOOK_EVERY: Final = 5.0


def main() -> int:
    """Return 1 if a message is missing anywhere or the statistics are wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=10_000, help="how many to send")
    parser.add_argument("--busy", type=int, default=2, help="how many busy loops run meanwhile")
    parser.add_argument("--seconds", type=float, default=900, help="the longest time of sending")
    parser.add_argument(
        "--patience", type=float, default=1_800, help="the longest wait for the queues, in seconds"
    )
    options = parser.parse_args()
    # An exit through `SystemExit` also ends what was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with running(STATE) as stack, _connected(stack):
        return _run(stack, options)


def _run(stack: dict[str, Any], options: argparse.Namespace) -> int:
    started = datetime.now(UTC) - timedelta(minutes=1)
    account_id, key = new_sender(STATE, "Overload", _SENDER)
    wiring = OperatorWiring(Settings(stack["environment"]))
    inbox = Inbox(stack["inbox_url"])
    with inbox.followed():
        began = time.monotonic()
        with _busy_loops(options.busy):
            sending = Sending(stack, key, _SENDER, options.messages, options.seconds)
            answers = sending.run()
        sent_in = time.monotonic() - began
        _keep(account_id, answers)
        print(
            f"acknowledged {len(answers.acknowledged)} in {sent_in:.0f} s, by way: {_ways(answers)}"
        )
        print(f"without an id: {dict(answers.errors.most_common(12))}", flush=True)
        rest = _wait_for_rest(stack, wiring, account_id, options.patience)
    print(f"at rest {rest:.0f} s after the last answer" if rest else "never at rest", flush=True)
    with closing(History(stack["base_url"], key, started)) as history:
        records = recorded(wiring, account_id)
        comparison = compare({*answers.acknowledged}, records, history, inbox)
    wrong = wrong_statistics(STATE, account_id=account_id)
    dead = depth(stack, "JOBS_DEAD_LETTERS", "EVENTS_DEAD_LETTERS")
    print(f"answers 503 to readers {history.unavailable}")
    print(f"dead letters {dead}, acknowledged twice {answers.repeated}, wrong statistics {wrong}")
    print(comparison, flush=True)
    return int(bool(comparison) or bool(answers.repeated + dead + wrong))


def _ways(answers: Answers) -> dict[str, int]:
    ways = [*answers.acknowledged.values()]
    return {way: ways.count(way) for way in dict.fromkeys(ways)}


def _keep(account_id: str, answers: Answers) -> None:
    """Write the ids, so that a missing message can be looked for later."""
    kept = {"account": account_id, "acknowledged": answers.acknowledged}
    (STATE / "acknowledged.json").write_text(json.dumps(kept, indent=1))


def _wait_for_rest(
    stack: dict[str, Any], wiring: OperatorWiring, account_id: str, patience: float
) -> float | None:
    """Return after how many seconds the queues were empty and all changes counted."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) < patience:
        waiting = depth(stack, "JOBS_QUEUE", "EVENTS_QUEUE")
        behind = 1 if waiting else wiring.statistics_audit.verify(account_id).lagging_messages
        print(f"after {waited:.0f} s in queues {waiting}", file=sys.stderr, flush=True)
        if not behind:
            return waited
        time.sleep(_LOOK_EVERY)
    return None


@contextmanager
def _busy_loops(count: int) -> Iterator[None]:
    loops = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(count)]
    for loop in loops:
        loop.start()
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.join()


def _spin() -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        sum(range(10_000))


@contextmanager
def _connected(stack: dict[str, Any]) -> Iterator[None]:
    """Let the AWS clients of this process call the stack's engine."""
    with mock.patch.dict(os.environ, stack["environment"]):
        yield


if __name__ == "__main__":
    sys.exit(main())
