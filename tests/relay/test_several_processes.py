"""Several processes on one port: a dead one is replaced, and signals reach all."""

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
    with contextlib.ExitStack() as stack:
        yield stack


def connect_to_each(
    process: subprocess.Popen[str], port: int, open_connections: contextlib.ExitStack
) -> dict[int, tuple[Client, bytes]]:
    wait_for(lambda: len(children(process)) == 2, PATIENCE)
    connections: dict[int, tuple[Client, bytes]] = {}

    def try_once() -> bool:
        client, presented = connect_tls(port)
        open_connections.enter_context(client)
        connections.setdefault(pid_serving(process, client), (client, presented))
        return len(connections) == 2

    wait_for(try_once, PATIENCE)
    return connections


def test_a_dead_process_is_replaced(tmp_path: Path) -> None:
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


def test_signals_reach_all_processes(
    tmp_path: Path, open_connections: contextlib.ExitStack
) -> None:
    newer = certificate.__wrapped__()
    expected = ssl.PEM_cert_to_DER_cert(newer.chain.decode())
    with program(tmp_path, PROCESSES="2") as (process, port):
        before = connect_to_each(process, port, open_connections)
        assert all(presented != expected for _, presented in before.values())
        write_certificate(tmp_path, newer)
        process.send_signal(signal.SIGHUP)

        def all_show_it() -> bool:
            now = connect_to_each(process, port, open_connections)
            assert now.keys() == before.keys()
            return all(presented == expected for _, presented in now.values())

        wait_for(all_show_it, PATIENCE)
        sessions = [client for client, _ in before.values()]
        assert [client.command("NOOP")[:4] for client in sessions] == [b"250 "] * 2
        process.send_signal(signal.SIGTERM)
        assert [client.reply()[:9] for client in sessions] == [b"421 4.3.2"] * 2
        open_connections.close()
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0


def test_health_of_several_processes(
    tmp_path: Path, open_connections: contextlib.ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check fails while one process hangs, although the other greets."""
    with program(tmp_path, PROCESSES="2") as (process, port):
        monkeypatch.setenv("PILLARBOX_SMTP_PORT", str(port))
        monkeypatch.setenv("PILLARBOX_PROCESSES", "2")
        hanging, _ = connect_to_each(process, port, open_connections)
        assert health.main() == 0
        os.kill(hanging, signal.SIGSTOP)
        # The kernel chooses the process of each connection, so the check fails soon, not at once.
        wait_for(lambda: health.main() == 1, PATIENCE)
        os.kill(hanging, signal.SIGCONT)
        wait_for(lambda: health.main() == 0, PATIENCE)
