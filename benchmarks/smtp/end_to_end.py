"""CPU of the relay for each message, from SMTP to the tables and the queue of the local engine.

.venv/bin/python -m benchmarks.smtp.end_to_end
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import boto3

from benchmarks.smtp import load as client
from benchmarks.smtp import run
from local.engine import Engine
from pillarbox.adapters.dynamodb import records
from pillarbox.domain.accounts.account import Plan
from pillarbox.settings import Settings
from tests.aws import create_table
from tests.fakes import builders
from tests.stack import free_port

AIOSMTPD: Final = (*run.UV, "--no-project", "--with", "aiosmtpd==1.4.6", "--with", "boto3")
OURS: Final = (sys.executable, str(run.HERE / "ours.py"))
#: The program, its arguments, and the client of DynamoDB and SQS.
SERVERS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...], str]]] = {
    "pillarbox, in groups": (OURS, ("in-groups", "uvloop", "1"), "direct"),
    "pillarbox, in groups, botocore": (OURS, ("in-groups", "uvloop", "1"), "botocore"),
    "pillarbox, each alone": (OURS, ("alone", "uvloop", "1"), "direct"),
    "aiosmtpd with boto3": ((*AIOSMTPD, str(run.HERE / "peer_aiosmtpd.py")), ("boto3",), ""),
}
PEER: Final = "aiosmtpd with boto3"
#: Other processes, which empty the caches, can only add: so the turn that took least counts.
ROUNDS: Final = 3
LOADS: Final = {
    "1 connection": client.Load(1, 20, 5, 2_000),
    "10 connections": client.Load(10, 20, 2, 2_000),
    "50 connections": client.Load(50, 10, 1, 2_000),
}


def main() -> None:
    """Measure and print a table in Markdown."""
    asyncio.run(measure())


async def measure() -> None:
    """Start the engine, and let the servers take turns."""
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        run.certificate(folder)
        async with engine_with_key(folder) as key:
            spent: dict[str, list[list[float]]] = {name: [] for name in SERVERS}
            for _ in range(ROUNDS):
                for name, (program, mode, choice) in SERVERS.items():
                    port = free_port()
                    command = (*program, str(folder), str(port), *mode)
                    os.environ[Settings.aws_client.variable] = choice or "botocore"
                    spent[name].append(figures(command, port, key))
    print("| ms of CPU per message (ratio to aiosmtpd) |", " | ".join(LOADS), "|")
    print("|---|" + "---|" * len(LOADS))
    least = {
        name: [min(turns) for turns in zip(*rounds, strict=True)] for name, rounds in spent.items()
    }
    for name, figure in least.items():
        cells = (
            f"{ms:.2f} ({ms / of_peer:.2f})"
            for ms, of_peer in zip(figure, least[PEER], strict=True)
        )
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


@asynccontextmanager
async def engine_with_key(folder: Path) -> AsyncIterator[str]:
    """Run the engine with tables, queues, an account and its key; yield the key's text."""
    engine = Engine(folder, free_port(), {"AUTH": "false"})
    await engine.start()
    try:
        os.environ.update(engine.aws_environment, AWS_DEFAULT_REGION="eu-west-1")
        tables = {"table": "pillarbox", "credentials_table": "pillarbox-credentials"}
        for table in tables.values():
            create_table(table)
        queues = {
            name: boto3.client("sqs").create_queue(QueueName=name)["QueueUrl"]
            for name in ("jobs_queue_url", "urgent_jobs_queue_url")
        }
        os.environ.update(builders.environment("functions", **tables, **queues))
        text = builders.key_text()
        items = {
            "table": records.account_item(builders.account(plan=Plan.ENTERPRISE)),
            "credentials_table": records.key_item(builders.api_key(text)),
        }
        for name, item in items.items():
            boto3.client("dynamodb").put_item(TableName=tables[name], Item=item)
        yield text
    finally:
        await engine.stop()


def figures(command: tuple[str, ...], port: int, key: str) -> list[float]:
    """Start a server, apply each load and return the figures."""
    measured = []
    with run.running(command, port) as server:
        client.run(port, client.Load(10, 20, 1, 2_000), key)
        for load in LOADS.values():
            before = run.cpu(server)
            client.run(port, load, key)
            time.sleep(0.3)
            measured.append((run.cpu(server) - before) / load.total * 1000)
    return measured


if __name__ == "__main__":
    main()
