"""Run random histories of webhooks with and without faults, and find the known bugs.

    .venv/bin/python -m verification.webhooks [EVENTS]

A history is one account whose endpoints work, fail or are down for hours. With faults, calls fail
or kill their process, the queue delivers tasks twice and in another order, and the stream repeats
batches. It prints the lines of benchmarks/reliability.md, and ends with 1 if anything is wrong.
"""

import sys
from collections.abc import Iterator
from itertools import count

from verification.webhooks.known_bugs import KNOWN_BUGS
from verification.webhooks.random_runs import Verdict, run

_MAILS = 12
_MOST_TRIES = 400


def _runs(events: int, *, disturbed: bool) -> Iterator[Verdict]:
    total = 0
    for seed in count():
        verdict = run(seed, _MAILS, disturbed=disturbed)
        yield verdict
        total += verdict.events
        if total >= events:
            return


def find(
    bug: str, most_tries: int = _MOST_TRIES, mails: int = _MAILS, first: int = 0
) -> tuple[int, str]:
    """Return in which history a bug was found, and what was wrong; 0 if in none.

    Args:
        bug: its name.
        most_tries: how many histories are tried.
        mails: emails of a history.
        first: the history that is tried before all others, counted from 0.
    """
    with KNOWN_BUGS[bug]():
        for seed in (first, *range(most_tries)):
            for disturbed in (False, True):
                try:
                    verdict = run(seed, mails, disturbed=disturbed)
                except AssertionError as error:  # the tasks never end
                    return seed + 1, str(error)
                if verdict.wrong:
                    return seed + 1, verdict.wrong
    return 0, "not found"


def _show(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Print what the runs show."""
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    failed = False
    for disturbed in (False, True):
        verdicts = list(_runs(events, disturbed=disturbed))
        wrong = [verdict.wrong for verdict in verdicts if verdict.wrong]
        failed |= bool(wrong)
        _show(
            f"| {'with faults' if disturbed else 'undisturbed'} | {len(verdicts):,} "
            f"| {sum(v.events for v in verdicts):,} | {len(wrong)} "
            f"| {sum(v.repeated for v in verdicts):,} |"
        )
    for bug in KNOWN_BUGS:
        runs, wrong_text = find(bug)
        failed |= not runs
        _show(f"| {bug.replace('_', ' ')} | {runs} | {wrong_text} |")
    sys.exit(failed)


if __name__ == "__main__":
    main()
