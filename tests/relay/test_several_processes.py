"""Several processes on one port: each is looked after, and all are told what one is told."""

import contextlib
import os
import signal
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from relay import health
from tests.relay.relay_program import (
    children,
    connect,
    connect_tls,
    pid_serving,
    program,
    write_certificate,
)
from tests.relay.running_relay import PATIENCE, Client, certificate
from tests.stack import wait_for


@pytest.fixture
def open_connections() -> Iterator[contextlib.ExitStack]:
    """Closes what a test opens."""
    with contextlib.ExitStack() as stack:
        yield stack


def one_of_each(
    process: subprocess.Popen[str], port: int, open_connections: contextlib.ExitStack
) -> dict[int, tuple[Client, bytes]]:
    """A connection in TLS with each of two processes, and the certificate that it showed."""
    wait_for(lambda: len(children(process)) == 2, PATIENCE)
    found: dict[int, tuple[Client, bytes]] = {}

    def look() -> bool:
        client, shown = connect_tls(port)
        open_connections.enter_context(client)
        found.setdefault(pid_serving(process, client), (client, shown))
        return len(found) == 2

    wait_for(look, PATIENCE)
    return found


def test_one_that_dies_is_replaced(tmp_path: Path) -> None:
    """One that dies is told of and replaced, while the other serves."""
    with program(tmp_path, PROCESSES="2") as (process, port):
        with connect(port) as client:
            assert client.reply().startswith(b"220 ")
        wait_for(lambda: len(children(process)) == 2, PATIENCE)
        victim = children(process)[0]
        victim.kill()
        wait_for(lambda: len(children(process)) == 2 and victim not in children(process), PATIENCE)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert '"message":"a process ended"' in output
        assert '"error":"exit status -9"' in output


def test_new_certificate_reaches_all(
    tmp_path: Path, open_connections: contextlib.ExitStack
) -> None:
    """At SIGHUP each process takes a new certificate; nobody is restarted, no session ends."""
    newer = certificate.__wrapped__()
    expected = ssl.PEM_cert_to_DER_cert(newer.chain.decode())
    with program(tmp_path, PROCESSES="2") as (process, port):
        before = one_of_each(process, port, open_connections)
        assert all(shown != expected for _, shown in before.values())
        write_certificate(tmp_path, newer)
        process.send_signal(signal.SIGHUP)

        def all_show_it() -> bool:
            now = one_of_each(process, port, open_connections)
            assert now.keys() == before.keys()
            return all(shown == expected for _, shown in now.values())

        wait_for(all_show_it, PATIENCE)
        assert [client.command("NOOP")[:4] for client, _ in before.values()] == [b"250 "] * 2


def test_all_let_their_clients_go(tmp_path: Path, open_connections: contextlib.ExitStack) -> None:
    """At SIGTERM each process sends its clients away, and the program ends with 0."""
    with program(tmp_path, PROCESSES="2") as (process, port):
        sessions = one_of_each(process, port, open_connections)
        process.send_signal(signal.SIGTERM)
        replies = [client.reply()[:9] for client, _ in sessions.values()]
        assert replies == [b"421 4.3.2"] * 2
        open_connections.close()
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0


def test_health_of_several(
    tmp_path: Path, open_connections: contextlib.ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that hangs makes the check fail, though the other greets; when it goes on all is well."""
    with program(tmp_path, PROCESSES="2") as (process, port):
        monkeypatch.setenv("PILLARBOX_SMTP_PORT", str(port))
        monkeypatch.setenv("PILLARBOX_SMTP_PROCESSES", "2")
        hanging, _ = one_of_each(process, port, open_connections)
        assert health.main() == 0
        os.kill(hanging, signal.SIGSTOP)
        # The kernel chooses who is asked: it does not go well for long.
        wait_for(lambda: health.main() == 1, PATIENCE)
        os.kill(hanging, signal.SIGCONT)
        wait_for(lambda: health.main() == 0, PATIENCE)
