"""The CPU of accepting one email over HTTP, with five calls to the local engine.

    .venv/bin/python -m benchmarks.accept_cpu [--instructions] [FOLDER…]

It measures this checkout with both clients of DynamoDB and SQS, and the checkouts in other folders
with their default, each in a process of its own with the same Python. The processes take turns, so
the load of the machine is the same for all, and the ratio to botocore says more than the
milliseconds. With `--instructions` valgrind counts instead, without system calls.
"""

import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Final, cast

from benchmarks.accepting import MAIL
from benchmarks.cold_start import post
from benchmarks.smtp.end_to_end import engine_with_key
from pillarbox.settings import Settings

ROOT: Final = Path(__file__).parent.parent
_TURNS: Final = 200
_VALGRIND: Final = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")

#: At each line on its standard input it accepts five emails, and prints the milliseconds of one.
_PROGRAM: Final = """
import json, os, sys, time
from types import SimpleNamespace
import app
from pillarbox.adapters.dns import DnsMailDomains
from pillarbox.application.ports import DomainVerdict

event, emails = sys.argv[1], 5
context = SimpleNamespace(
    aws_request_id="1", function_name="f", memory_limit_in_mb=1024, invoked_function_arn="arn"
)
DnsMailDomains.look_up = lambda _, domains: dict.fromkeys(domains, DomainVerdict.ACCEPTS)
output = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the log goes there
for _ in sys.stdin:
    events = [json.loads(event) for _ in range(emails)]
    for one in events:
        one["multiValueHeaders"]["Idempotency-Key"] = [str(time.time_ns())]
    before = time.process_time()
    answers = [app.lambda_handler(one, context) for one in events]
    print((time.process_time() - before) * 1000 / emails, file=output, flush=True)
    assert all(answer["statusCode"] == 200 for answer in answers), answers
"""


def main() -> None:
    """Print a table in Markdown."""
    folders = [Path(argument) for argument in sys.argv[1:] if argument != "--instructions"]
    asyncio.run(measure(folders, counting="--instructions" in sys.argv))


async def measure(checkouts: list[Path], *, counting: bool) -> None:
    """Start the engine and a process for each checkout and client, and let them take turns."""
    measured = [(ROOT, "botocore"), (ROOT, "direct"), *((other, "") for other in checkouts)]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        async with engine_with_key(Path(folder)) as key:
            os.environ["POWERTOOLS_SERVICE_NAME"] = "benchmark"
            event = json.dumps(post(key, MAIL))
            if counting:
                print_instructions(measured, event)
                return
            handlers = [
                stack.enter_context(start(checkout, event, client)) for checkout, client in measured
            ]
            turns = [[take_turn(handler) for handler in handlers] for _ in range(_TURNS)]
    # Other processes, which empty the caches, can only add: so the tenth that took least.
    figures = [statistics.quantiles(spent, n=10)[0] for spent in zip(*turns, strict=True)]
    print("| checkout, client | ms of CPU | ratio | median of the turns' ratios |")
    print("|---|---|---|---|")
    for number, (checkout, client) in enumerate(measured):
        median = statistics.median(turn[number] / turn[0] for turn in turns)
        ratio = figures[number] / figures[0]
        print(f"| {checkout} {client} | {figures[number]:.2f} | {ratio:.2f} | {median:.2f} |")


def print_instructions(measured: list[tuple[Path, str]], event: str) -> None:
    """Print the instructions of one email: the difference between 30 and 10 in one process."""
    of_botocore = 0.0
    for checkout, client in measured:
        totals = []
        for turns in (2, 6):
            with start(checkout, event, client, *_VALGRIND) as handler:
                _, errors = handler.communicate("\n" * turns)
            found = re.search(r"Collected : (\d+)", errors)
            if found is None:
                raise RuntimeError(errors)
            totals.append(int(found[1]))
        count = (totals[1] - totals[0]) / 20e6
        of_botocore = of_botocore or count
        print(f"{checkout} {client}: {count:.2f} M, {count / of_botocore:.2f}", flush=True)


def start(checkout: Path, event: str, client: str, *launcher: str) -> subprocess.Popen[str]:
    """Start a process with the handler of a checkout; it ends when its standard input does."""
    variables = {Settings.aws_client.variable: client} if client else {}
    path = (checkout / "functions" / "send_email", checkout / "layers" / "shared")
    return subprocess.Popen(
        [*launcher, sys.executable, "-c", _PROGRAM, event],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))} | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if launcher else None,
        text=True,
    )


def take_turn(handler: subprocess.Popen[str]) -> float:
    """Let a process accept some emails, and return the milliseconds of CPU of one."""
    commands, answers = cast("IO[str]", handler.stdin), cast("IO[str]", handler.stdout)
    print(file=commands, flush=True)
    return float(answers.readline())


if __name__ == "__main__":
    main()
