"""The front as a program on loopback: settings, limits, workers and shutdown."""

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
from pillarbox.domain.accounts.key import KeyType, new_key_text
from tests.fakes import builders
from tests.stack import AGENT, free_port

ACCOUNT_ID_LENGTH = 12

BODY_LIMIT = 16 * 1024 * 1024

ROOT = Path(__file__).parents[3]
PATIENCE = 60
SECRET = "edge-secret"
#: A well-formed key, so that the handler looks it up in the table.
KEY = new_key_text("0" * ACCOUNT_ID_LENGTH, KeyType.LIVE)
SETTINGS = builders.environment("front", edge_secret=SECRET) | {
    "PATH": os.environ["PATH"],
    "PYTHONPATH": f"{ROOT}:{ROOT / 'layers/shared'}",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_ACCESS_KEY_ID": "x",
    "AWS_SECRET_ACCESS_KEY": "x",
    "POWERTOOLS_SERVICE_NAME": "pillarbox",
}


@contextmanager
def program(
    aws: int, *command: str, **settings: str
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run `python -m front` on a free port until healthy, with AWS on a local port."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, *(command or ("-m", "front"))],
        env=SETTINGS
        | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{aws}", "PILLARBOX_PORT": str(port)}
        | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while status(port) != 200:
            assert process.poll() is None
            assert time.monotonic() < deadline
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
    """A stand-in for AWS that accepts connections and never answers, so handlers wait."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE)
        yield listener


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Return the port of a running front, which answers as long as none asks AWS."""
    with socket.create_server(("127.0.0.1", 0)) as listener, program(port_of(listener)) as found:
        yield found[1]


def port_of(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


def begin(port: int, body: Any = b"{}", **headers: str) -> http.client.HTTPConnection:
    """Send a POST and do not wait for the response."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    all_headers = AGENT | {"X-Pillarbox-Edge": SECRET, "X-API-Key": KEY} | headers
    connection.request("POST", "/api/v1/emails", body, all_headers)
    return connection


def finish(connection: http.client.HTTPConnection) -> tuple[int, dict[str, Any]]:
    """Return the status and the error of a response, which must have a request id."""
    response = connection.getresponse()
    body = response.read()
    connection.close()
    assert response.headers["X-Request-Id"]
    return response.status, json.loads(body)["error"]


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
        ("PILLARBOX_PROCESSES", "0"),
    ],
)
def test_an_invalid_setting_stops_the_start(name: str, value: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "front"],
        env=SETTINGS | {name: value},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert result.returncode == 2
    assert name in result.stderr


def test_the_program_enforces_its_limits(port: int) -> None:
    """On real connections: 403 without the secret, 413 for a chunked body, 401 without a key."""
    code, error = finish(begin(port, **{"X-Pillarbox-Edge": "another"}))
    assert (code, error["code"]) == (403, "client_blocked")

    chunks = iter([b" " * (BODY_LIMIT // 2), b" " * (BODY_LIMIT // 2), b" "])
    code, error = finish(begin(port, chunks))
    assert (code, error["code"]) == (413, "request_too_large")
    assert error["details"] == {"limit_bytes": BODY_LIMIT}

    # The client sees the response although it is still sending, and the connection stays.
    connection = begin(port, b" " * BODY_LIMIT, **{"X-API-Key": ""})
    socket_before = connection.sock
    assert connection.getresponse().read()
    connection.request("POST", "/api/v1/emails", b"{}", {"X-Pillarbox-Edge": SECRET})
    assert connection.sock is socket_before
    code, error = finish(connection)
    assert (code, error["code"]) == (401, "missing_api_key")


def test_sigterm_finishes_pending_requests(
    aws: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    with program(port_of(aws)) as (process, port):
        monkeypatch.setenv("PILLARBOX_PORT", str(port))
        assert health.main() == 0
        pending = begin(port)
        aws_request, _ = aws.accept()
        with aws_request:
            process.send_signal(signal.SIGTERM)
            deadline = time.monotonic() + PATIENCE
            while status(port):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            assert aws_request.recv(65536)
            body = b'{"__type":"com.amazonaws.dynamodb.v20120810#ValidationException"}'
            aws_request.sendall(
                b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/x-amz-json-1.0\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            )
            code, _ = finish(pending)
        assert code in {500, 503}
        output, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        first = json.loads(output.splitlines()[0])
        assert (first["message"], first["port"]) == ("listening", port)
        assert health.main() == 1


def test_the_drain_is_limited(aws: socket.socket) -> None:
    command = "from front import program, settings; settings.DRAIN_SECONDS = 0; program.main()"
    with program(port_of(aws), "-c", command) as (process, port):
        pending = begin(port)
        aws_request, _ = aws.accept()
        with aws_request:
            worker = worker_of(process)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)
        pending.close()
        assert not worker.is_running()


def test_framing_is_strict(port: int) -> None:
    """A trailer adds no header, and what is not HTTP gets the envelope."""
    edge = f"Host: front\r\nX-Pillarbox-Edge: {SECRET}\r\nConnection: close\r\n"
    start = f"POST /api/v1/emails HTTP/1.1\r\n{edge}Transfer-Encoding: chunked\r\n\r\n"
    trailer = f"2\r\n{{}}\r\n0\r\nX-API-Key: {KEY}\r\n\r\n"
    for octets, status, code in (
        (start + trailer, 401, "missing_api_key"),
        (start + "zz\r\n", 422, "validation_failed"),
        ("nonsense\r\n\r\n", 422, "validation_failed"),
    ):
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
            connection.sendall(octets.encode())
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert response.status == status
            assert response.headers["X-Request-Id"]
            assert json.loads(response.read())["error"]["code"] == code
