# ruff: noqa: T201  a program that is run by hand prints what it found
"""Kill processes of a running local stack while mail is being sent (`make faults`).

Clients send 200 mails in a minute, a third of them through the front, and try again under
their idempotency keys; meanwhile the edge, the front, its handlers and the engine's functions
are killed at random, with SIGKILL. Then every acknowledged mail must be in the inbox exactly
once and have its right status. What a killed worker held comes again when the queue's
visibility is over, and a mail whose hand-over has an unknown outcome waits 15 minutes for its
event: so this takes up to half an hour.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import httpx

from tests.faults.clients import Heard, Mail, Reading, judge, send_all
from tests.faults.victims import Victim, client_of, entrance, functions, kill_at_random

ROOT: Final = Path(__file__).parents[2]
STATE: Final = ROOT / ".local" / "kill"
MAILS: Final = 200
#: Seconds in which they are sent, and seconds and kills until the killing ends.
SECONDS: Final = 60
KILLS: Final = 60
#: Seconds between two kills.
PAUSE: Final = (0.5, 1.5)
#: Seconds: until the stack is up, until a client gives up, and until all is at rest.
STARTS_WITHIN: Final = 300
PATIENCE: Final = 600
RESTS_WITHIN: Final = 2_400


def main() -> int:
    """Give 1 when a promise was broken."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=20261121, help="of who is killed when")
    options.add_argument(
        "--unkeyed", action="store_true", help="clients that do it wrong, which must be seen"
    )
    chosen = options.parse_args()
    # What was started is ended in that case too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with running() as stack, entrance(stack) as served:
        engine = json.loads((STATE / "engine.json").read_text())["pid"]

        def victims() -> list[Victim]:
            return served.victims() + functions(engine)

        began = time.monotonic()
        with ThreadPoolExecutor(1) as beside:
            draw = random.Random(chosen.seed)  # noqa: S311  who dies is no secret
            killing = beside.submit(
                kill_at_random,
                victims,
                lambda killed: time.monotonic() - began > SECONDS and killed.total() >= KILLS,
                draw,
                PAUSE,
            )
            key = stack["keys"]["live"]
            mails = [Mail("kill", number, front=number % 3 == 0) for number in range(MAILS)]
            heard = send_all(
                served.url,
                key,
                mails,
                seconds=SECONDS,
                patience=PATIENCE,
                keyed=not chosen.unkeyed,
            )
            killed = killing.result()
        sent = time.monotonic()
        with closing(Reading(stack, key)) as reading:
            rested = rest(stack, reading, heard)
            outcome = judge(heard, reading.inbox(), reading.status)
        dead = left(stack, "JOBS_DEAD_LETTERS") + left(stack, "EVENTS_DEAD_LETTERS")
        print(f"killed {killed.total()}: {dict(sorted(killed.items()))}")
        print(
            f"mails {MAILS} in {sent - began:.0f} s and {sum(one.tries for one in heard)} tries, "
            f"{outcome}, dead letters {dead}, "
            + (f"at rest after {rested - sent:.0f} s" if rested else "never at rest"),
            flush=True,
        )
        for refusal, times in Counter(one.refused for one in heard if one.refused).items():
            print(f"refused {times} times: {refusal}")
        return int(bool(outcome) or not outcome.acknowledged or not rested or bool(dead))


@contextmanager
def running() -> Iterator[dict[str, Any]]:
    """A stack of this test's own, as its stack.json describes it."""
    STATE.mkdir(parents=True, exist_ok=True)
    told = STATE / "stack.json"
    told.unlink(missing_ok=True)
    ports = dict.fromkeys(("PILLARBOX_PORT", "PILLARBOX_INBOX_PORT", "PILLARBOX_SMTP_PORT"), "0")
    process = subprocess.Popen(
        [sys.executable, "-m", "local"],
        cwd=ROOT,
        env=os.environ | ports | {"PILLARBOX_STATE_DIR": str(STATE)},
        stdout=subprocess.DEVNULL,
    )
    try:
        late = time.monotonic() + STARTS_WITHIN
        while not told.exists():
            if process.poll() is not None or time.monotonic() > late:
                sys.exit("The local stack did not start.")
            time.sleep(0.2)
        yield json.loads(told.read_text())
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(STARTS_WITHIN)


def rest(stack: dict[str, Any], reading: Reading, heard: list[Heard]) -> float | None:
    """Wait until every mail is finished and no job is left that could send one again.

    Gives when that was, or None when it did not come.
    """
    finals = {one.message_id: one.mail.final for one in heard if one.message_id}
    late = time.monotonic() + RESTS_WITHIN
    while time.monotonic() < late:
        try:
            statuses = reading.statuses()
            unfinished = sum(statuses.get(one) != final for one, final in finals.items())
            jobs, events = left(stack, "JOBS_QUEUE"), left(stack, "EVENTS_QUEUE")
        except httpx.HTTPError:  # the stack is busy
            continue
        if not (unfinished or jobs or events):
            return time.monotonic()
        print(f"unfinished {unfinished}, jobs {jobs}, events {events}", file=sys.stderr, flush=True)
        time.sleep(10)
    return None


def left(stack: dict[str, Any], queue: str) -> int:
    """How many messages a queue holds, those included that are with a worker or wait."""
    environment = stack["environment"]
    counts = ("", "NotVisible", "Delayed")
    with closing(client_of(environment, "sqs")) as sqs:
        attributes = sqs.get_queue_attributes(
            QueueUrl=environment[f"PILLARBOX_{queue}_URL"],
            AttributeNames=[f"ApproximateNumberOfMessages{count}" for count in counts],
        )["Attributes"]
    return sum(int(number) for number in attributes.values())


if __name__ == "__main__":
    sys.exit(main())
