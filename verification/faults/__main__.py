# ruff: noqa: T201  a program that is run by hand prints its results
"""The long run (`make faults`): every fault at every call of every path, then random schedules.

It prints, for each part and in total, how much was tried and which promises broke. A failure
names the arguments that repeat it. The parts, in this order:

* calls: every fault at every call of each path of a mail.
* accepting: owners that stall and are taken over, and writes that take effect late.
* statistics: every fault at every call of the function that counts mail.
* webhooks: every fault at every call from the table's stream to a webhook endpoint.
* received: every fault at every call from a mail that SES stored to the endpoint of its event.
* exits: processes that end by `os._exit`, at each call of a mail, a fifth of the statistics'.
* random: schedules of faults, pauses, copies and lost events, one for each seed.
* kills: killed processes of a running local stack (`verification/kills`).

`aim` is a part that runs only if it is asked for: `verification/bank` aims runs at bugs.

Two parts run at a time, each on its own engine, so the longest ones start first. Each line of
the output belongs to one part; the last line sums up all of them.
"""

import argparse
import multiprocessing
import signal
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Final

from pillarbox.settings import Settings
from verification.faults import runs
from verification.faults.aims import PATHS
from verification.faults.parts import Options, run_part
from verification.faults.report import Totals

#: The longest ones first.
_PARTS: Final = (
    "calls",
    "accepting",
    "webhooks",
    "received",
    "statistics",
    "exits",
    "kills",
    "random",
)
#: One for each core.
_PARTS_AT_A_TIME: Final = 2


def main() -> int:
    """Return 1 if a promise was broken."""
    options, total = _read(), Totals()
    chosen = [part for part in (*_PARTS, "aim") if part in options.parts]
    with ProcessPoolExecutor(
        _PARTS_AT_A_TIME, multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as processes:
        signal.signal(signal.SIGTERM, lambda *_: _end_parts(processes))
        for part in as_completed([processes.submit(run_part, part, options) for part in chosen]):
            total += part.result()
    print(total, flush=True)
    return int(bool(total))


def _end_parts(processes: ProcessPoolExecutor) -> None:
    """End the parts that run, and start none of those that wait."""
    processes.shutdown(wait=False, cancel_futures=True)
    for part in multiprocessing.active_children():
        part.terminate()
    sys.exit(1)


def _read() -> Options:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="run only these parts")
    parser.add_argument(
        "--path", action="append", choices=PATHS, help="only this path in aim, calls and exits"
    )
    parser.add_argument("--aim", default="bursts", help="see `verification/faults/aims.py`")
    parser.add_argument("--first", action="store_true", help="end with the first broken promise")
    parser.add_argument("--seconds", type=float, default=420, help="how long random schedules run")
    parser.add_argument(
        "--seed", type=int, default=1, help="of the first schedule; --seconds 0 runs only that one"
    )
    parser.add_argument(
        "--client",
        choices=("direct", "botocore"),
        default=Settings({}).aws_client,
        help="which one calls DynamoDB and SQS",
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - {*_PARTS, "aim"}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    named = arguments.path or [path.name for path in runs.PATHS]
    return Options(
        arguments.parts or _PARTS,
        [path for name, path in PATHS.items() if name in named],
        arguments.seconds,
        arguments.seed,
        arguments.client,
        arguments.aim,
        arguments.first,
    )


if __name__ == "__main__":
    sys.exit(main())
