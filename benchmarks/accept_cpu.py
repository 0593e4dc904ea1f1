"""The CPU of accepting one email over HTTP, with five calls to the local engine.

    .venv/bin/python -m benchmarks.accept_cpu [FOLDER…]    (valgrind must be installed)

It measures this checkout and the checkouts in other folders, in turn and with the same Python.
CPU is that of the process that runs the handler of send_email, as milliseconds (the median of
some rounds) and as instructions, which do not depend on the load of the machine.
"""

import asyncio
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.smtp import run
from benchmarks.smtp.end_to_end import seed
from local.engine import Engine

ROOT: Final = Path(__file__).parent.parent
_ROUNDS: Final = 7
_ACCEPTS: Final = 200
#: Two counts of accepts; the difference has no start in it.
_FEW: Final = 10
_MANY: Final = 60

#: Accepts emails in a process of its own, which imports one checkout.
_PROGRAM: Final = """
import sys, time
from unittest.mock import patch
from benchmarks.accepting import CONTEXT, handler, post
from pillarbox.adapters.dns import DnsMailDomains
from pillarbox.application.ports import DomainVerdict

key, warm, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
send = handler("send_email")
body = {
    "to": "ada@customer.example",
    "starterTemplate": "password_reset",
    "variables": {"reset_url": "https://shop.example/reset/7f3c", "expiry_minutes": 30},
}

def accept(number):
    answer = send(post(key, body, {"Idempotency-Key": f"{time.time_ns()}-{number}"}), CONTEXT)
    assert answer["statusCode"] == 200, answer["body"]

def accepts(_, domains):
    return dict.fromkeys(domains, DomainVerdict.ACCEPTS)

with patch.object(DnsMailDomains, "look_up", accepts):
    for number in range(warm):
        accept(number)
    before = time.process_time()
    for number in range(count):
        accept(number)
print("CPU", (time.process_time() - before) / count * 1000, file=sys.stderr)
"""


def main() -> None:
    """Print a table in Markdown."""
    asyncio.run(measure([ROOT, *map(Path, sys.argv[1:])]))


async def measure(checkouts: list[Path]) -> None:
    """Start the engine, and measure each checkout."""
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(Path(folder), run.free_port(), {"AUTH": "false"})
        await engine.start()
        try:
            os.environ.update(
                AWS_ENDPOINT_URL=engine.url,
                AWS_ACCESS_KEY_ID="test",
                AWS_SECRET_ACCESS_KEY="test",  # noqa: S106  of the local engine
                AWS_DEFAULT_REGION="eu-west-1",
                POWERTOOLS_SERVICE_NAME="benchmark",
            )
            key = seed()
            spent: dict[Path, list[float]] = {checkout: [] for checkout in checkouts}
            for _ in range(_ROUNDS):
                for checkout, figures in spent.items():
                    figures.append(milliseconds(checkout, key))
            print("| checkout | ms, median | ms, least | M instructions |")
            print("|---|---|---|---|")
            for checkout, figures in spent.items():
                print(
                    f"| {checkout} | {statistics.median(figures):.2f} | {min(figures):.2f}"
                    f" | {instructions(checkout, key):.2f} |",
                    flush=True,
                )
        finally:
            await engine.stop()


def milliseconds(checkout: Path, key: str) -> float:
    """Return the CPU time of one accept in a warm process."""
    shown = re.search(r"CPU (\S+)", _accept(checkout, key, _ACCEPTS // 4, _ACCEPTS))
    if shown is None:
        raise RuntimeError(checkout)
    return float(shown[1])


def instructions(checkout: Path, key: str) -> float:
    """Return the instructions of one accept in a warm process, in millions."""
    few, many = (
        _accept(
            checkout,
            key,
            count,
            1,
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
        )
        for count in (_FEW, _MANY)
    )
    counts = [int(re.findall(r"Collected : (\d+)", shown)[0]) for shown in (few, many)]
    return (counts[1] - counts[0]) / (_MANY - _FEW) / 1_000_000


def _accept(checkout: Path, key: str, warm: int, count: int, *under: str) -> str:
    """Run the program on a checkout, and return its standard error."""
    path = os.pathsep.join(map(str, (checkout, checkout / "layers" / "shared")))
    return subprocess.run(
        [*under, sys.executable, "-c", _PROGRAM, key, str(warm), str(count)],
        env=os.environ | {"PYTHONPATH": path},
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ).stderr


if __name__ == "__main__":
    main()
