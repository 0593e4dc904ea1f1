"""The relay as a program, over an AWS that is not there."""

import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from relay.tls import Certificate
from tests.relay.running_relay import PATIENCE, Client, certificate
from tests.stack import free_port, wait_for

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "relay")


def write(folder: Path, made: Certificate) -> None:
    """Put a certificate where the program looks for it."""
    (folder / "chain.pem").write_bytes(made.chain)
    (folder / "key.pem").write_bytes(made.key)


@contextmanager
def program(
    folder: Path, *, command: tuple[str, ...] = COMMAND, **settings: str
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`python -m relay` on a free port; settings without their PILLARBOX_SMTP_."""
    write(folder, certificate())
    port = free_port()
    usual = {
        "NAME": "relay.example",
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "CERTIFICATE": str(folder / "chain.pem"),
        "KEY": str(folder / "key.pem"),
    }
    service = ("TABLE", "JOBS_QUEUE_URL", "SPOOL_BUCKET", "PREVIEW_SENDER", "UPGRADE_URL")
    environment = {f"PILLARBOX_{name}": "x" for name in service} | {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT}:{ROOT / 'layers/shared'}",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    }
    process = subprocess.Popen(
        command,
        env=environment | {f"PILLARBOX_SMTP_{k}": v for k, v in (usual | settings).items()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process, port
    finally:
        for child in children(process):
            with suppress(psutil.NoSuchProcess):
                child.kill()
        process.kill()
        process.communicate()


def children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The processes that it started and that run."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(process.pid).children()
    return []


def connect(port: int) -> Client:
    """A connection, as soon as one can be had."""

    def look() -> socket.socket | None:
        with suppress(ConnectionRefusedError):
            return socket.create_connection(("127.0.0.1", port), PATIENCE)
        return None

    return Client(wait_for(look, PATIENCE))


def serving(process: subprocess.Popen[str], client: Client) -> int:
    """Which of several processes has a connection."""
    port = client.sock.getsockname()[1]
    (found,) = (
        child.pid
        for child in children(process)
        for each in child.net_connections("tcp")
        if each.raddr and each.raddr.port == port
    )
    return found


def secured(port: int) -> tuple[Client, bytes]:
    """A connection in TLS, whatever the certificate, and the certificate."""
    client = connect(port)
    assert client.reply().startswith(b"220 ")
    assert client.say("STARTTLS").startswith(b"220 ")
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    client.wrap(context)
    assert isinstance(client.sock, ssl.SSLSocket)
    shown = client.sock.getpeercert(binary_form=True)
    assert shown
    return client, shown
