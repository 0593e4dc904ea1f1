"""The relay as a program, with AWS unreachable."""

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
from tests.fakes import builders
from tests.relay.running_relay import PATIENCE, Client, certificate
from tests.stack import free_port, wait_for

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "relay")


def write_certificate(folder: Path, certificate: Certificate) -> None:
    """Write a certificate to the file that the program reads."""
    (folder / "smtp.pem").write_bytes(certificate.chain + certificate.key)


def environment(folder: Path, port: int, **settings: str) -> dict[str, str]:
    """Return the variables of the program; the names of settings omit PILLARBOX_."""
    write_certificate(folder, certificate())
    defaults = {
        "SMTP_NAME": "relay.example",
        "SMTP_PORT": str(port),
        "SMTP_CERTIFICATE": str(folder / "smtp.pem"),
    }
    variables = builders.environment("relay") | {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT}:{ROOT / 'layers/shared'}",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    }
    return variables | {f"PILLARBOX_{k}": v for k, v in (defaults | settings).items()}


@contextmanager
def program(
    folder: Path, *, command: tuple[str, ...] = COMMAND, **settings: str
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run `python -m relay` on a free port; the names of settings omit PILLARBOX_."""
    port = free_port()
    process = subprocess.Popen(
        command,
        env=environment(folder, port, **settings),
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
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(process.pid).children()
    return []


def connect(port: int) -> Client:
    """Connect as soon as the server listens."""

    def try_to_connect() -> socket.socket | None:
        with suppress(ConnectionRefusedError):
            return socket.create_connection(("127.0.0.1", port), PATIENCE)
        return None

    return Client(wait_for(try_to_connect, PATIENCE))


def pid_serving(process: subprocess.Popen[str], client: Client) -> int:
    port = client.sock.getsockname()[1]
    (pid,) = (
        child.pid
        for child in children(process)
        for connection in child.net_connections("tcp")
        if connection.raddr and connection.raddr.port == port
    )
    return pid


def connect_tls(port: int) -> tuple[Client, bytes]:
    """Connect and start TLS without checks; return the client and the server's certificate."""
    client = connect(port)
    assert client.reply().startswith(b"220 ")
    assert client.command("STARTTLS").startswith(b"220 ")
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    client.wrap(context)
    assert isinstance(client.sock, ssl.SSLSocket)
    server_certificate = client.sock.getpeercert(binary_form=True)
    assert server_certificate
    return client, server_certificate
