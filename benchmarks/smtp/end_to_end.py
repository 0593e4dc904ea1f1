"""CPU of the relay for each message, from SMTP to the tables and the queue of the local engine.

.venv/bin/python -m benchmarks.smtp.end_to_end
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import boto3
import psutil

from benchmarks.smtp import load as client
from benchmarks.smtp import run
from local.engine import Engine
from pillarbox.adapters.dynamodb import records
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key import KeyType, new_key_text
from tests.fakes import builders

ACCOUNT: Final = "acct00000001"
AIOSMTPD: Final = (*run.UV, "--no-project", "--with", "aiosmtpd==1.4.6", "--with", "boto3")
SERVERS: Final = {
    "pillarbox, in groups": (sys.executable, str(run.HERE / "ours_with_aws.py"), "together"),
    "pillarbox, each alone": (sys.executable, str(run.HERE / "ours_with_aws.py"), "alone"),
    "aiosmtpd with boto3": (*AIOSMTPD, str(run.HERE / "peer_with_boto3.py"), ""),
}
LOADS: Final = {
    "1 connection": client.Load(1, 20, 5, 2_000),
    "10 connections": client.Load(10, 20, 2, 2_000),
    "50 connections": client.Load(50, 10, 1, 2_000),
}


def main() -> None:
    """Measure and print a table in Markdown."""
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        run.certificate(folder)
        asyncio.run(measure(folder))


async def measure(folder: Path) -> None:
    """Start the engine and then one server after another."""
    engine_port = run.free_port()
    engine = Engine(folder, engine_port, {"AUTH": "false"})
    await engine.start()
    try:
        os.environ.update(
            engine.aws_environment,
            AWS_DEFAULT_REGION="eu-west-1",
            PYTHONPATH=f"{run.ROOT}:{run.ROOT}/layers/shared",
        )
        password = seed()
        print("| ms of CPU per message |", " | ".join(LOADS), "|")
        print("|---|" + "---|" * len(LOADS))
        for name, command in SERVERS.items():
            print(f"| {name} |", " | ".join(figures(command, folder, password)), "|", flush=True)
    finally:
        await engine.stop()


def seed() -> str:
    """Create the tables, the queue, an account and its key; return the key's text."""
    dynamodb = boto3.client("dynamodb")
    for table in ("pillarbox", "pillarbox-credentials"):
        dynamodb.create_table(
            TableName=table,
            AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ("pk", "sk")],
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )
    os.environ.update(
        PILLARBOX_TABLE="pillarbox",
        PILLARBOX_CREDENTIALS_TABLE="pillarbox-credentials",
        PILLARBOX_JOBS_QUEUE_URL=boto3.client("sqs").create_queue(QueueName="jobs")["QueueUrl"],
        PILLARBOX_URGENT_JOBS_QUEUE_URL=boto3.client("sqs").create_queue(QueueName="urgent")[
            "QueueUrl"
        ],
        PILLARBOX_SPOOL_BUCKET="spool",
        PILLARBOX_PREVIEW_SENDER="preview@shop.example",
        PILLARBOX_UPGRADE_URL="https://shop.example/upgrade",
    )
    text = new_key_text(ACCOUNT, KeyType.LIVE)
    account = builders.account(
        ACCOUNT,
        plan=Plan.ENTERPRISE,
        senders={client.SENDER: True},
        default_sender=client.SENDER,
    )
    key = builders.api_key(text, ACCOUNT)
    dynamodb.put_item(TableName="pillarbox", Item=records.account_item(account))
    dynamodb.put_item(TableName="pillarbox-credentials", Item=records.key_item(key))
    return text


def figures(command: tuple[str, ...], folder: Path, password: str) -> list[str]:
    """Start a server, apply each load and return the figures."""
    port = run.free_port()
    *start, mode = command
    measured = []
    with subprocess.Popen(
        [*start, str(folder), str(port), mode], stderr=subprocess.DEVNULL
    ) as process:
        try:
            server = psutil.Process(process.pid)
            run.wait_until_open(port)
            client.run(port, client.Load(10, 20, 1, 2_000), password)
            for load in LOADS.values():
                before = run.cpu(server)
                client.run(port, load, password)
                time.sleep(0.3)
                measured.append(f"{(run.cpu(server) - before) / load.total * 1000:.2f}")
        finally:
            for child in server.children(recursive=True):
                child.terminate()
            process.terminate()
    return measured


if __name__ == "__main__":
    main()
