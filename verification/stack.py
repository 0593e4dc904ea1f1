"""A local stack for one run: its start, the operator's command, its queues and its statistics."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from signal import SIGINT
from typing import Any, Final

import boto3

ROOT: Final = Path(__file__).parents[1]
#: Seconds until the stack is up, or has ended.
_START_TIMEOUT: Final = 300
#: Seconds between two looks at statistics that are behind.
_PAUSE: Final = 5


@contextmanager
def running(state: Path) -> Iterator[dict[str, Any]]:
    """Start a stack for this run and return its stack.json."""
    state.mkdir(parents=True, exist_ok=True)
    description = state / "stack.json"
    description.unlink(missing_ok=True)
    ports = dict.fromkeys(("PILLARBOX_PORT", "PILLARBOX_INBOX_PORT", "PILLARBOX_SMTP_PORT"), "0")
    process = subprocess.Popen(
        [sys.executable, "-m", "local"],
        cwd=ROOT,
        env=os.environ | ports | {"PILLARBOX_STATE_DIR": str(state), "PILLARBOX_SES_RATE": "1000"},
        stdout=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + _START_TIMEOUT
        while not description.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit("The local stack did not start.")
            time.sleep(0.2)
        yield json.loads(description.read_text())
    finally:
        process.send_signal(SIGINT)
        process.wait(_START_TIMEOUT)


def run_operator(state: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the operator's command on a stack; any exit code is accepted."""
    return subprocess.run(
        [Path(sys.executable).with_name("pillarbox"), "--local", "--json", *arguments],
        env=os.environ | {"PILLARBOX_STATE_DIR": str(state)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def wrong_statistics(state: Path, patience: float = 0) -> int:
    """Return how many accounts have wrong statistics.

    It runs `pillarbox stats verify`. Statistics that are wrong or behind get some seconds of
    patience to become right, because the stream may still deliver changes.
    """
    deadline = time.monotonic() + patience
    while True:
        done = run_operator(state, "stats", "verify")
        wrong = 1  # if the stack is busy, or gone
        if done.stdout:
            reports = json.loads(done.stdout)["items"]
            wrong = sum(not report["right"] or report["behind"] > 0 for report in reports)
        if not wrong or time.monotonic() > deadline:
            return wrong
        time.sleep(_PAUSE)


def dead_letters(state: Path) -> int:
    """Return how many messages were set aside, as `pillarbox queue status` says."""
    queues = json.loads(run_operator(state, "queue", "status").stdout)["items"]
    return sum(queue["dead"] or 0 for queue in queues)


def client_of(environment: Mapping[str, str], service: str) -> Any:
    """Return a client of the engine of a running stack."""
    make: Any = boto3.client  # mypy would try its 400 overloads
    return make(
        service,
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        region_name=environment["AWS_REGION"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )


def depth(stack: dict[str, Any], *queues: str) -> int:
    """Return how many messages queues hold, including received and delayed ones."""
    environment = stack["environment"]
    names = [f"ApproximateNumberOfMessages{count}" for count in ("", "NotVisible", "Delayed")]
    with closing(client_of(environment, "sqs")) as sqs:
        answers = [
            sqs.get_queue_attributes(
                QueueUrl=environment[f"PILLARBOX_{queue}_URL"], AttributeNames=names
            )
            for queue in queues
        ]
    return sum(int(number) for answer in answers for number in answer["Attributes"].values())
