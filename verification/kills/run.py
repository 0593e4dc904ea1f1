# ruff: noqa: T201  a program that is run by hand prints its results
"""Kill processes of a running local stack while mail is being sent.

Clients send 200 mails in a minute, a third of them through the front, and retry under their
idempotency keys. Meanwhile the edge, the front, its handlers and the engine's functions are
killed at random with SIGKILL. In the end every acknowledged mail must be in the inbox exactly
once and have the right status. The jobs of a killed worker are received again after the
queue's visibility timeout, and mail whose hand-over has an unknown outcome waits 15 minutes for
its event. So a run takes up to half an hour.
"""

import argparse
import json
import random
import signal
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import httpx

from verification.faults.report import RunResult, report
from verification.faults.verdict import Verdict
from verification.kills.clients import ClientResult, Mail, ServiceView, judge, send_all
from verification.kills.processes_to_kill import (
    Target,
    entrance,
    functions,
    kill_at_random,
)
from verification.stack import ROOT, dead_letters, depth, running, wrong_statistics

STATE: Final = ROOT / ".local" / "kill"
MAILS: Final = 200
#: Seconds in which the mails are sent. The kills end after these seconds and this many kills.
SECONDS: Final = 60
KILLS: Final = 60
#: Seconds between two kills.
PAUSE: Final = (0.5, 1.5)
#: Seconds until a client gives up, and until all mail is finished.
PATIENCE: Final = 600
FINISH_TIMEOUT: Final = 2_400
#: Seconds between mails of another account. A missing event of an uncertain mail means
#: something only while other events arrive.
OTHER_MAIL_EVERY: Final = 60
#: Seconds until the statistics are right: killed functions delay the table's stream.
STATISTICS_TIMEOUT: Final = 300
#: Seconds of empty queues after which no mail can change any more.
EMPTY_FOR: Final = 30


@dataclass(frozen=True)
class Options:
    """The options of a run: the order of kills, and the bug that it must notice."""

    seed: int = 20261121
    #: Clients use a new key for each try.
    unkeyed: bool = False


def main() -> int:
    """Return 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=Options.seed, help="of the order of kills")
    parser.add_argument("--unkeyed", action="store_true", help="clients without a key: must fail")
    # An exit through `SystemExit` also ends what was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return int(bool(report("kills", [run(Options(**vars(parser.parse_args())))])))


def run(options: Options) -> RunResult:
    """Send mail, kill processes, wait until all mail is finished, and print the outcome."""
    with running(STATE) as stack, entrance(stack) as entrance_before:
        engine = json.loads((STATE / "engine.json").read_text())["pid"]

        def targets() -> list[Target]:
            return entrance_before.targets() + functions(engine)

        started = time.monotonic()
        with ThreadPoolExecutor(1) as threads:
            draw = random.Random(options.seed)  # noqa: S311  not a secret
            killing = threads.submit(
                kill_at_random,
                targets,
                lambda killed: time.monotonic() - started > SECONDS and killed.total() >= KILLS,
                draw,
                PAUSE,
            )
            mails = [Mail("kill", n, front=n % 3 == 0) for n in range(MAILS)]
            results = send_all(
                entrance_before.url,
                stack["keys"]["live"],
                mails,
                seconds=SECONDS,
                patience=PATIENCE,
                keyed=not options.unkeyed,
            )
            killed = killing.result()
        sent_at = time.monotonic()
        with closing(ServiceView(stack, stack["keys"]["live"])) as view:
            finished = wait_until_finished(stack, view, results)
            outcome = judge(results, view.inbox(), view.status)
        dead = dead_letters(STATE)
        miscounted = wrong_statistics(STATE, STATISTICS_TIMEOUT)
    print(f"killed {killed.total()}: {dict(sorted(killed.items()))}")
    tries = sum(result.tries for result in results)
    print(
        f"mails {MAILS} in {sent_at - started:.0f} s and {tries} tries, "
        f"{outcome}, dead letters {dead}, accounts with wrong statistics {miscounted}, "
        + (f"finished after {finished - sent_at:.0f} s" if finished else "never finished"),
        flush=True,
    )
    refusals = Counter(result.refused for result in results if result.refused)
    for refusal, times in refusals.items():
        print(f"refused {times} times: {refusal}")
    verdict = Verdict(
        accepted=outcome.acknowledged,
        lost=outcome.lost,
        doubled=outcome.doubled,
        stuck=dead + (not finished) + (not outcome.acknowledged),
        wrong=outcome.wrong + outcome.refused + miscounted,
    )
    return RunResult(str(options), killed.total(), verdict)


def wait_until_finished(
    stack: dict[str, Any], view: ServiceView, results: list[ClientResult]
) -> float | None:
    """Wait until every mail is finished and no job is left that could send one again.

    Return the time of that moment, or None if it did not come. Mail that is not finished when
    the queues have been empty for long is lost.
    """
    finals = {result.message_id: result.mail.final for result in results if result.message_id}
    started = empty_since = time.monotonic()
    last_mail = started
    while (now := time.monotonic()) < started + FINISH_TIMEOUT:
        try:
            statuses = view.statuses()
            unfinished = sum(
                statuses.get(message_id) != final for message_id, final in finals.items()
            )
            jobs = depth(stack, "JOBS_QUEUE", "URGENT_JOBS_QUEUE")
            events = depth(stack, "EVENTS_QUEUE")
            if now > last_mail + OTHER_MAIL_EVERY:
                last_mail = now
                view.send_other_mail(stack["keys"]["live_free"])
        except httpx.HTTPError:  # the stack is busy
            continue
        print(
            f"after {now - started:.0f} s unfinished {unfinished}, jobs {jobs}, events {events}",
            file=sys.stderr,
            flush=True,
        )
        if jobs or events:
            empty_since = now
        elif not unfinished or now > empty_since + EMPTY_FOR:
            return now
        time.sleep(10)
    return None


if __name__ == "__main__":
    sys.exit(main())
