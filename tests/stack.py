"""Functions that the tests of the running local stack share."""

import atexit
import email
import email.policy
import fcntl
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email.message import EmailMessage
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import httpx
from mypy_boto3_sesv2 import SESV2Client

ROOT = Path(__file__).parents[1]
AGENT = {"User-Agent": "pillarbox-tests/1.0"}
#: Seconds; long enough for a slow machine.
PATIENCE = 300

# Each client of httpx, and so each `httpx.get`, would read the certificates of all authorities,
# which takes more than the request to a server of this machine.
vars(httpx._transports.default)["create_ssl_context"] = cache(httpx.create_ssl_context)


def free_port() -> int:
    """Return a free port of the loopback interface, which no other process of tests gets.

    It lies below those that the system hands out for port 0 and for outgoing connections
    (`net.ipv4.ip_local_port_range`), so nothing else takes it before it is used.
    """
    while True:
        port = random.randrange(20_000, 32_768)  # noqa: S311  no secret
        try:
            fcntl.lockf(_ports(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port


@cache
def _ports() -> int:
    """Return the number of a file of which each process locks the bytes at its ports."""
    return os.open(
        f"{tempfile.gettempdir()}/pillarbox-ports-{os.getuid()}", os.O_WRONLY | os.O_CREAT
    )


def is_open(port: int) -> bool:
    """Return whether something listens at a port of the loopback interface."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
        return True
    return False


def wait_for(look: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Call `look` until its result is true, and return the result.

    The pauses grow, because a look may cost the stack more than what it waits for.
    """
    started = time.monotonic()
    while not (result := look()):
        waited = time.monotonic() - started
        assert waited < seconds, "the condition was not met in time"
        time.sleep(max(0.1, waited / 10))
    return result


@contextmanager
def own_stack(state: Path, **environment: str) -> Iterator[dict[str, str]]:
    """Run a local stack beside the shared one, on what that has packaged; stop it regularly.

    Yields:
        the environment of its commands.
    """
    if (built := ROOT / ".local" / "tests" / "build").is_dir():
        shutil.copytree(built, state / "build")
    ports = dict.fromkeys(("PILLARBOX_PORT", "PILLARBOX_INBOX_PORT", "PILLARBOX_SMTP_PORT"), "0")
    own = os.environ | ports | {"PILLARBOX_STATE_DIR": str(state)} | environment
    lock = state.with_suffix(".lock")  # the stack stops, at the latest, when this process ends
    command = [sys.executable, "-m", "tests.while_locked", str(lock), "local"]
    with lock.open("a") as using:
        fcntl.flock(using, fcntl.LOCK_SH)
        with subprocess.Popen(command, cwd=ROOT, env=own, stdout=subprocess.DEVNULL) as process:
            try:
                there = (state / "stack.json").exists
                wait_for(lambda: there() or process.poll() is not None, 2 * PATIENCE)
                yield own
            finally:
                process.send_signal(signal.SIGTERM)
                assert process.wait(PATIENCE) == 0


@contextmanager
def alone(subject: str) -> Iterator[None]:
    """Run the block while no other worker runs one about the same subject of the shared stack."""
    with (ROOT / ".local" / "tests" / subject).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


_OPERATOR_ENVIRONMENT = {
    "PILLARBOX_STATE_DIR": str(ROOT / ".local" / "tests"),
    "PATH": "/usr/bin:/bin",
}


def run_operator(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the operator's command on the test stack; any exit code is accepted."""
    operator = _operator()
    assert operator.stdin
    assert operator.stdout
    operator.stdin.write(json.dumps(["--local", "--json", *arguments]) + "\n")
    operator.stdin.flush()
    return subprocess.CompletedProcess(arguments, *json.loads(operator.stdout.readline()))


def operate(*arguments: str) -> Any:
    """Run the operator's command, which must succeed, and return its JSON."""
    done = run_operator(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout) if done.stdout.strip() else None


@cache
def _operator() -> subprocess.Popen[str]:
    """Start the process that runs all commands of this worker; it ends with the worker."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.operator_commands"],
        cwd=ROOT,
        env=_OPERATOR_ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)
    return process


def send_email(stack: dict[str, Any], key: str, **fields: Any) -> httpx.Response:
    """Send an email with these fields over the API; a field of None is left out."""
    usual = {"to": "ada@customer.example", "subject": "Hi", "html": "<p>Hi</p>"}
    email = {name: value for name, value in (usual | fields).items() if value is not None}
    url, headers = f"{stack['base_url']}/api/v1/emails", AGENT | {"X-API-Key": key}
    return httpx.post(url, json=email, headers=headers, timeout=PATIENCE)


def inbox(stack: dict[str, Any], message_id: str) -> list[dict[str, Any]]:
    items = httpx.get(f"{stack['inbox_url']}/messages", timeout=PATIENCE).json()["items"]
    return [item for item in items if item["messageId"] == message_id]


def raw(stack: dict[str, Any], item: dict[str, Any]) -> EmailMessage:
    answer = httpx.get(f"{stack['inbox_url']}/messages/{item['id']}/raw", timeout=PATIENCE)
    return email.message_from_bytes(answer.content, _class=EmailMessage, policy=email.policy.SMTP)


def ses_of(stack: dict[str, Any]) -> SESV2Client:
    """Return a client of the stack's SES.

    Its keys are given: boto3's own session keeps those that it found first in this process.
    """
    environment = stack["environment"]
    return boto3.client(
        "sesv2",
        endpoint_url=environment["AWS_ENDPOINT_URL_SESV2"],
        region_name=environment["AWS_DEFAULT_REGION"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )
