"""The relay as a program: its settings, its certificate, its end, and its memory."""

import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from relay.certificates import Certificates, from_files, from_secret
from relay.tls import Certificate
from tests.relay.served import MESSAGE, PATIENCE, Client, certificate, serve
from tests.stack import wait_for

ROOT = Path(__file__).parents[2]
MIB = 2**20


@contextmanager
def program(folder: Path, **settings: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`python -m relay` on a free port, over an AWS that is not there."""
    (folder / "chain.pem").write_bytes(certificate().chain)
    (folder / "key.pem").write_bytes(certificate().key)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT}:{ROOT / 'layers/shared'}",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "PILLARBOX_SMTP_NAME": "relay.example",
        "PILLARBOX_SMTP_HOST": "127.0.0.1",
        "PILLARBOX_SMTP_PORT": str(port),
        "PILLARBOX_SMTP_CERTIFICATE": str(folder / "chain.pem"),
        "PILLARBOX_SMTP_KEY": str(folder / "key.pem"),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "relay"],
        env=environment | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process, port
    finally:
        process.kill()
        process.communicate()


def connect(port: int) -> Client:
    late = time.monotonic() + PATIENCE
    while True:
        try:
            return Client(socket.create_connection(("127.0.0.1", port), PATIENCE))
        except ConnectionRefusedError:
            assert time.monotonic() < late
            time.sleep(0.05)


def test_program_serves_until_it_is_told_to_end(tmp_path: Path) -> None:
    """It greets by its name, sends idle clients away at SIGTERM, and ends with 0."""
    with program(tmp_path) as (process, port), connect(port) as client:
        assert client.reply() == b"220 relay.example ESMTP Pillarbox\r\n"
        client.start_tls()
        process.send_signal(signal.SIGTERM)
        assert client.reply().startswith(b"421 4.3.2 ")
        client.sock.close()
        output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert '"message":"listening"' in output


def children(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children()


def test_several_processes_share_one_port(tmp_path: Path) -> None:
    """One that dies is replaced; at SIGTERM all let their clients go, and it ends with 0."""
    with program(tmp_path, PILLARBOX_SMTP_PROCESSES="2") as (process, port):
        with connect(port) as client:
            assert client.reply().startswith(b"220 ")
        wait_for(lambda: len(children(process)) == 2, PATIENCE)
        victim = children(process)[0]
        victim.kill()
        wait_for(lambda: len(children(process)) == 2 and victim not in children(process), PATIENCE)
        with connect(port) as client:
            assert client.reply().startswith(b"220 ")
            process.send_signal(signal.SIGTERM)
            assert client.reply().startswith(b"421 4.3.2 ")
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0


def test_no_processes_are_no_server(tmp_path: Path) -> None:
    """At least one process is asked for."""
    with program(tmp_path, PILLARBOX_SMTP_PROCESSES="0") as (process, _):
        _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert "PILLARBOX_SMTP_PROCESSES" in told


def test_settings_that_are_missing(tmp_path: Path) -> None:
    """Without a name, or with a port that is no number, it says so and ends with 2."""
    for name, value in (("NAME", ""), ("PORT", "smtp"), ("PROXIES", "10.0.0.300")):
        with program(tmp_path, **{f"PILLARBOX_SMTP_{name}": value}) as (process, _):
            _, told = process.communicate(timeout=PATIENCE)
            assert process.returncode == 2
            assert f"PILLARBOX_SMTP_{name}" in told


def test_certificate_is_renewed_without_a_restart(tmp_path: Path) -> None:
    """A new certificate is used for the next session; one that does not work is not."""
    newer = certificate.__wrapped__()
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"

    def write(made: Certificate) -> None:
        chain.write_bytes(made.chain)
        key.write_bytes(made.key)

    write(certificate())
    certificates = Certificates(from_files(str(chain), str(key)))
    with serve(certificates=certificates) as served:
        with served.secured():
            pass
        chain.write_bytes(b"nonsense")
        served.call(certificates.refresh())
        with served.secured():
            pass
        write(newer)
        served.call(certificates.refresh())
        with served.greeted() as client:
            client.say("STARTTLS")
            with pytest.raises(ssl.SSLCertVerificationError):
                client.wrap()
        with served.greeted() as client:
            client.say("STARTTLS")
            client.wrap(ssl.create_default_context(cadata=newer.chain.decode()))
            assert client.say("NOOP").startswith(b"250 ")


def test_certificate_of_a_secret() -> None:
    """A secret holds chain and key as JSON; neither is shown when it is printed."""
    made = from_secret(lambda: '{"certificate": "chain", "key": "private"}')()
    assert (made.chain, made.key) == (b"chain", b"private")
    assert "private" not in repr(made)


def resident() -> int:
    """Octets of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_of_mail_in_transit() -> None:
    """Six clients amid 15 MB each take what the ceiling lets them; the others get 452."""
    content = MESSAGE + (b"x" * 98 + b"\r\n") * (15 * MIB // 100)
    with serve(memory=64 * MIB) as served:
        clients = [served.ready() for _ in range(6)]
        before = resident()
        for client in clients:
            client.envelope()
            client.send(content)
        assert resident() - before < 80 * MIB
        for client in clients:
            client.send(b".\r\n")
        replies = [client.reply()[:9] for client in clients]
        for client in clients:
            client.sock.close()
    assert set(replies) == {b"250 2.0.0", b"452 4.3.1"}
