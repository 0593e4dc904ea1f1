# ruff: noqa: T201  a program that is run by hand prints its results
"""Run random histories of webhooks with and without faults.

    .venv/bin/python -m verification.webhooks [--events N]
    .venv/bin/python -m verification.webhooks --histories 5 --seed 14 --mails 6

A history is one account whose endpoints work, fail or are down for hours. With faults, calls fail
or kill their process, the queue delivers tasks twice and in another order, and the stream repeats
batches. It prints the lines of benchmarks/reliability.md, and ends with 1 if anything is wrong. A
number of histories ends with the first that is wrong.
"""

import argparse
import sys
from collections.abc import Iterator
from itertools import count

from verification.webhooks.random_runs import Verdict, run

_MAILS = 12


def main() -> int:
    """Print what the runs show; return 1 if an event was lost or invented, or waits for ever."""
    parser = argparse.ArgumentParser(prog="python -m verification.webhooks")
    parser.add_argument("--events", type=int, default=100_000, help="of all histories of a kind")
    parser.add_argument("--histories", type=int, default=0, help="so many of both kinds")
    parser.add_argument("--seed", type=int, default=0, help="of the first history")
    parser.add_argument("--mails", type=int, default=_MAILS, help="of a history")
    options = parser.parse_args()
    if options.histories:
        return int(any(_are_wrong(options)))
    failed = False
    for disturbed in (False, True):
        verdicts = list(_runs(options.events, disturbed=disturbed))
        wrong = [verdict.wrong for verdict in verdicts if verdict.wrong]
        failed |= bool(wrong)
        print(
            f"| {'with faults' if disturbed else 'undisturbed'} | {len(verdicts):,} "
            f"| {sum(v.events for v in verdicts):,} | {len(wrong)} "
            f"| {sum(v.repeated for v in verdicts):,} |",
            flush=True,
        )
    return int(failed)


def _are_wrong(options: argparse.Namespace) -> Iterator[bool]:
    for seed in range(options.seed, options.seed + options.histories):
        for disturbed in (False, True):
            try:
                wrong = run(seed, options.mails, disturbed=disturbed).wrong
            except AssertionError as error:  # the tasks never end
                wrong = str(error) or "it never ends"
            if wrong:
                print(f"BROKEN history {seed}: {wrong}")
            yield bool(wrong)


def _runs(events: int, *, disturbed: bool) -> Iterator[Verdict]:
    total = 0
    for seed in count():
        verdict = run(seed, _MAILS, disturbed=disturbed)
        yield verdict
        total += verdict.events
        if total >= events:
            return


if __name__ == "__main__":
    sys.exit(main())
