"""The front as a program, over loopback: its settings, its limits, its workers and its end."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from front import health
from front.app import BODY_LIMIT
from pillarbox.domain.key import ACCOUNT_ID_LENGTH, KeyType, new_key_text
from tests.stack import free_port

ROOT = Path(__file__).parents[3]
PATIENCE = 60
SECRET = "edge-secret"
#: Of the right form, so that the handler asks the table for it.
KEY = new_key_text("0" * ACCOUNT_ID_LENGTH, KeyType.LIVE)
SETTINGS = {
    "PATH": os.environ["PATH"],
    "PYTHONPATH": f"{ROOT}:{ROOT / 'layers/shared'}",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_ACCESS_KEY_ID": "x",
    "AWS_SECRET_ACCESS_KEY": "x",
    "PILLARBOX_TABLE": "table",
    "PILLARBOX_JOBS_QUEUE_URL": "http://127.0.0.1:9/jobs",
    "PILLARBOX_SPOOL_BUCKET": "spool",
    "PILLARBOX_PREVIEW_SENDER": "preview@mail.example",
    "PILLARBOX_UPGRADE_URL": "https://shop.example/plans",
    "PILLARBOX_EDGE_SECRET": SECRET,
    "PILLARBOX_FRONT_HOST": "127.0.0.1",
    "PILLARBOX_FRONT_WORKERS": "1",
    "POWERTOOLS_SERVICE_NAME": "pillarbox",
}


@contextmanager
def program(aws: int, **settings: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`python -m front` on a free port, healthy, with AWS at a port of loopback."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "front"],
        env=SETTINGS
        | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{aws}", "PILLARBOX_FRONT_PORT": str(port)}
        | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        late = time.monotonic() + PATIENCE
        while status(port) != 200:
            assert process.poll() is None
            assert time.monotonic() < late
            time.sleep(0.05)
        yield process, port
    finally:
        process.kill()
        process.communicate()


def status(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


@pytest.fixture
def aws() -> Iterator[socket.socket]:
    """An AWS that takes connections and says nothing: a handler waits for it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE)
        yield listener


def port_of(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


def begin(port: int, body: Any = b"{}", **headers: str) -> http.client.HTTPConnection:
    """Send a POST and do not wait for its answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    given = {"X-Pillarbox-Edge": SECRET, "X-API-Key": KEY} | headers
    connection.request("POST", "/api/v1/emails", body, given)
    return connection


def finish(connection: http.client.HTTPConnection) -> tuple[int, dict[str, Any]]:
    """The status and the envelope's error, of an answer that has its request's id."""
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert answer.headers["X-Request-Id"]
    return answer.status, json.loads(body)["error"]


def worker_of(process: subprocess.Popen[str]) -> psutil.Process:
    (worker,) = (
        child
        for child in psutil.Process(process.pid).children()
        if "spawn_main" in " ".join(child.cmdline())
    )
    return worker


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PILLARBOX_EDGE_SECRET", ""),
        ("PILLARBOX_TABLE", ""),
        ("PILLARBOX_FRONT_WORKERS", "0"),
        ("PILLARBOX_FRONT_DRAIN_SECONDS", "soon"),
    ],
)
def test_a_wrong_setting_stops_the_start(name: str, value: str) -> None:
    """What is missing or makes no sense ends the start with 2 and its name."""
    done = subprocess.run(
        [sys.executable, "-m", "front"],
        env=SETTINGS | {name: value},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 2
    assert name in done.stderr


def test_the_program_keeps_its_limits(aws: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over real connections: 403 without the secret, 413 in chunks, the handlers' own answers."""
    with program(port_of(aws)) as (process, port):
        monkeypatch.setenv("PILLARBOX_FRONT_PORT", str(port))
        assert health.main() == 0

        code, error = finish(begin(port, **{"X-Pillarbox-Edge": "another"}))
        assert (code, error["code"]) == (403, "client_blocked")

        chunks = iter([b" " * (BODY_LIMIT // 2), b" " * (BODY_LIMIT // 2), b" "])
        code, error = finish(begin(port, chunks))
        assert (code, error["code"]) == (413, "request_too_large")
        assert error["details"] == {"limit_bytes": BODY_LIMIT}

        code, error = finish(begin(port, **{"X-API-Key": ""}))
        assert (code, error["code"]) == (401, "missing_api_key")

        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert health.main() == 1


def test_a_killed_worker_is_replaced(aws: socket.socket) -> None:
    """Killed in the middle of a request it leaves a 503; the next request has another."""
    with program(port_of(aws)) as (process, port):
        under_way = begin(port)
        asked, _ = aws.accept()  # the handler looks for the key
        with asked:
            killed = worker_of(process)
            killed.kill()
            code, error = finish(under_way)
        assert (code, error["code"]) == (503, "service_unavailable")
        code, error = finish(begin(port, **{"X-API-Key": ""}))
        assert (code, error["code"]) == (401, "missing_api_key")
        assert worker_of(process).pid != killed.pid


def test_sigterm_finishes_what_is_under_way(aws: socket.socket) -> None:
    """After SIGTERM nothing new is taken, and the request under way still gets its answer."""
    with program(port_of(aws)) as (process, port):
        under_way = begin(port)
        asked, _ = aws.accept()
        with asked:
            process.send_signal(signal.SIGTERM)
            late = time.monotonic() + PATIENCE
            while status(port):
                assert time.monotonic() < late
                time.sleep(0.05)
            assert asked.recv(65536)
            body = b'{"__type":"com.amazonaws.dynamodb.v20120810#ValidationException"}'
            asked.sendall(
                b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/x-amz-json-1.0\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            )
            code, _ = finish(under_way)
        assert code in {500, 503}
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0


def test_sigterm_does_not_wait_for_ever(aws: socket.socket) -> None:
    """What is not finished in the time to drain is given up, with its worker."""
    with program(port_of(aws), PILLARBOX_FRONT_DRAIN_SECONDS="0") as (process, port):
        under_way = begin(port)
        asked, _ = aws.accept()
        with asked:
            worker = worker_of(process)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)
        under_way.close()
        assert not worker.is_running()
