# ruff: noqa: T201  a program that is run by hand prints what it found
"""Kill processes of a running local stack while mail is being sent.

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from verification.faults.report import RunResult, report
from verification.faults.verdict import Verdict
from verification.kills.clients import ClientResult, Mail, ServiceView, judge, send_all
from verification.kills.processes_to_kill import (
    Target,
    client_of,
    entrance,
    functions,
    kill_at_random,
)

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
#: Seconds between mails of another account: only while events come does it mean something that
#: the one of an uncertain mail does not.
BEAT: Final = 60
#: Seconds for which queues are empty, after which nothing comes any more.
EMPTY: Final = 30


@dataclass(frozen=True)
class Options:
    """What is killed when, and what is wrong on purpose, which must be seen."""

    seed: int = 20261121
    #: Clients send each try under a key of its own.
    unkeyed: bool = False
    #: Handlers accept a mail before they put its job; only they, the front and the edge die.
    bug: bool = False
    #: The same with a queue as slow as theirs, and nothing wrong.
    slow: bool = False

    @property
    def front(self) -> tuple[str, ...]:
        """The program that serves as the front."""
        if self.bug or self.slow:
            return ("-m", "verification.kills.slow_front", *(["--bug"] if self.bug else []))
        return ("-m", "front")


def main() -> int:
    """Give 1 when a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=Options.seed, help="of who is killed when")
    for name, what in (
        ("unkeyed", "clients that try again under another key"),
        ("bug", "handlers that enqueue after the commit"),
        ("slow", "handlers whose queue is as slow as those have it, and nothing wrong"),
    ):
        parser.add_argument(f"--{name}", action="store_true", help=what)
    # What was started is ended in that case too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return int(bool(report("kills", [run(Options(**vars(parser.parse_args())))])))


def run(options: Options) -> RunResult:
    """Send, kill, and wait for rest; prints what it came to."""
    only_front = options.bug or options.slow
    with running() as stack, entrance(stack, options.front) as served:
        engine = json.loads((STATE / "engine.json").read_text())["pid"]

        def targets() -> list[Target]:
            return served.targets() + ([] if only_front else functions(engine))

        began = time.monotonic()
        with ThreadPoolExecutor(1) as beside:
            draw = random.Random(options.seed)  # noqa: S311  who dies is no secret
            killing = beside.submit(
                kill_at_random,
                targets,
                lambda killed: time.monotonic() - began > SECONDS and killed.total() >= KILLS,
                draw,
                PAUSE,
            )
            mails = [Mail("kill", n, front=only_front or n % 3 == 0) for n in range(MAILS)]
            heard = send_all(
                served.url,
                stack["keys"]["live"],
                mails,
                seconds=SECONDS,
                patience=PATIENCE,
                keyed=not options.unkeyed,
            )
            killed = killing.result()
        sent = time.monotonic()
        with closing(ServiceView(stack, stack["keys"]["live"])) as reading:
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
    verdict = Verdict(
        accepted=outcome.acknowledged,
        lost=outcome.lost,
        doubled=outcome.doubled,
        stuck=dead + (not rested) + (not outcome.acknowledged),
        wrong=outcome.wrong + outcome.refused,
    )
    return RunResult(str(options), killed.total(), verdict)


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


def rest(stack: dict[str, Any], reading: ServiceView, heard: list[ClientResult]) -> float | None:
    """Wait until every mail is finished and no job is left that could send one again.

    Gives when that was, or None when it did not come. Mail that is not finished when the
    queues have long been empty is lost.
    """
    finals = {one.message_id: one.mail.final for one in heard if one.message_id}
    began = emptied = time.monotonic()
    beat = began
    while (now := time.monotonic()) < began + RESTS_WITHIN:
        try:
            statuses = reading.statuses()
            unfinished = sum(statuses.get(one) != final for one, final in finals.items())
            jobs, events = left(stack, "JOBS_QUEUE"), left(stack, "EVENTS_QUEUE")
            if now > beat + BEAT:
                beat = now
                reading.beat(stack["keys"]["live_free"])
        except httpx.HTTPError:  # the stack is busy
            continue
        print(
            f"after {now - began:.0f} s unfinished {unfinished}, jobs {jobs}, events {events}",
            file=sys.stderr,
            flush=True,
        )
        if jobs or events:
            emptied = now
        elif not unfinished or now > emptied + EMPTY:
            return now
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
