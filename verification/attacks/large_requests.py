# ruff: noqa: T201  a program that is run by hand prints its results
"""Attack the front: bodies that are costly to read, and sockets that hold it.

    python -m verification.attacks.large_requests

`python -m front` runs on 127.0.0.1 with its real handlers over the fakes. It gets every body of
`large_bodies`, as a send and as a batch. Then idle, slow and stalled sockets hold it, and one key
floods it, while another key sends emails of 14 MB from another address.
"""

import base64
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import Final

import psutil
from verification.attacks.machine import slowness

from pillarbox.domain.messages.attachment import MAX_BYTES_EACH
from tests.fakes import builders
from tests.stack import free_port
from verification.attacks.large_bodies import bodies

ROOT: Final = Path(__file__).parents[2]
_SECRET: Final = "attack"
_MIB: Final = 1024 * 1024
_ROUTES: Final = ("/api/v1/emails", "/api/v1/emails/batch")
#: Seconds of CPU on a usual machine.
_SLOW: Final = 2.0
_PATIENCE: Final = 60
_LARGE_SENDS: Final = 5


@dataclass(slots=True)
class Counts:
    """What the attacks found."""

    tried: int = 0
    server_errors: int = 0
    slow: int = 0
    largest_response: int = 0
    #: In bytes, of the process that handles the requests.
    peak: int = 0
    longest: float = 0.0
    sockets: int = 0
    sent: int = 0
    accepted: int = 0
    #: Sentences that say what went wrong.
    findings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"bad inputs tried {self.tried}, 5xx {self.server_errors},"
            f" over {_SLOW:.0f} s of CPU {self.slow} (longest {self.longest:.1f} s),"
            f" largest response {self.largest_response} bytes,"
            f" peak memory {self.peak // _MIB} MiB,"
            f" sockets held {self.sockets},"
            f" large sends of another key accepted {self.accepted} of {self.sent}"
        )


@dataclass(frozen=True, slots=True)
class Target:
    """A running front, and two keys that are valid there."""

    process: psutil.Process
    port: int
    key: str
    flooding_key: str

    @property
    def worker(self) -> psutil.Process:
        """The process that handles the requests; there is one."""
        (worker,) = (
            child for child in self.process.children() if "spawn_main" in " ".join(child.cmdline())
        )
        return worker

    def post(self, route: str, body: bytes, key: str, address: str) -> tuple[int, bytes]:
        """Send a request and return the status and the body of the response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        try:
            connection.request("POST", route, body, headers(key, address))
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


def headers(key: str, address: str) -> dict[str, str]:
    """Return what the edge sends."""
    edge = {"X-Pillarbox-Edge": _SECRET, "X-Pillarbox-Client": address}
    return edge | {"X-API-Key": key, "User-Agent": "attack/1.0"}


@contextmanager
def front() -> Iterator[Target]:
    """Run the front with one worker until the block ends."""
    keys, port = (builders.key_text(), builders.key_text()), free_port()
    environment = os.environ | builders.environment(
        "front",
        edge_secret=_SECRET,
        front_host="127.0.0.1",
        front_port=str(port),
        front_workers="1",
    )
    environment |= {
        "POWERTOOLS_SERVICE_NAME": "attack",
        "PYTHONPATH": f"{ROOT}:{ROOT / 'layers/shared'}",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "verification.attacks.front_on_fakes", *keys],
        env=environment,
        stdout=subprocess.DEVNULL,
        cwd=ROOT,
    ) as process:
        try:
            target = Target(psutil.Process(process.pid), port, *keys)
            _wait_until_ready(target, process)
            yield target
        finally:
            process.terminate()


def _wait_until_ready(target: Target, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            target.post("/health", b"", "", "")
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


def attack_parser(target: Target, counts: Counts, step: int = 1) -> None:
    """Send each body, or every so manieth, on both routes."""
    for number, (name, build) in enumerate(islice(bodies(), 0, None, step)):
        body = build()
        for route in _ROUTES:
            worker = target.worker
            before = _cpu(worker)
            status, response = target.post(route, body, target.key, f"192.0.2.{number % 250}")
            counts.tried += 1
            counts.largest_response = max(counts.largest_response, len(response))
            where = f"{name}, {route}"
            if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
                counts.server_errors += 1
                counts.findings.append(f"{where}: {status} {response[:200]!r}")
            if not worker.is_running():
                counts.findings.append(f"{where}: the worker died")
                continue
            spent = _cpu(worker) - before
            counts.longest = max(counts.longest, spent)
            counts.peak = max(counts.peak, _peak(worker.pid))
            if spent > _SLOW * slowness():
                counts.slow += 1
                counts.findings.append(f"{where}: {spent:.1f} s of CPU")


def attack_sockets(target: Target, counts: Counts, number: int) -> None:
    """Hold the front by sockets of each kind, and send large emails beside them."""
    for hold in (_announce, _stall, _trickle):
        with ExitStack() as stack:
            for n in range(number):
                connection = socket.create_connection(("127.0.0.1", target.port), _PATIENCE)
                stack.enter_context(connection)
                # Each has a key of the right form and an address of its own.
                hold(connection, headers(builders.key_text(f"forged{n:06}"), f"198.51.{n}.1"))
                counts.sockets += 1
            time.sleep(1.5)
            _send_large(target, counts, hold.__name__)


def _announce(connection: socket.socket, fields: dict[str, str]) -> None:
    """Announce the largest body and send none of it."""
    connection.sendall(_head(fields, 16 * _MIB))


def _stall(connection: socket.socket, fields: dict[str, str]) -> None:
    """Send nearly all of the largest body, and then nothing."""
    connection.sendall(_head(fields, 16 * _MIB) + bytes(15 * _MIB))


def _trickle(connection: socket.socket, fields: dict[str, str]) -> None:
    """Send most of the largest body, and then a few octets at a time."""
    connection.sendall(_head(fields, 16 * _MIB) + bytes(12 * _MIB))

    def trickle() -> None:
        try:
            while True:
                connection.sendall(b"x")
                time.sleep(0.1)
        except OSError:
            pass  # one end has closed it

    Thread(target=trickle, daemon=True).start()


def _head(fields: dict[str, str], size: int) -> bytes:
    lines = [f"{name}: {value}" for name, value in fields.items()]
    start = ["POST /api/v1/emails HTTP/1.1", "Host: front", f"Content-Length: {size}"]
    return "\r\n".join([*start, *lines, "", ""]).encode()


def attack_by_flood(target: Target, counts: Counts, number: int) -> None:
    """Let one key send large emails on so many connections at a time, and others beside them."""
    stop = Event()
    body = _large_email()

    def flood() -> None:
        while not stop.is_set():
            status, _ = target.post(_ROUTES[0], body, target.flooding_key, "203.0.113.1")
            counts.tried += 1
            if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
                counts.server_errors += 1
                counts.findings.append(f"flood: {status}")

    threads = [Thread(target=flood) for _ in range(number)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    _send_large(target, counts, "flood")
    stop.set()
    for thread in threads:
        thread.join()


def _send_large(target: Target, counts: Counts, beside: str) -> None:
    body = _large_email()
    for _ in range(_LARGE_SENDS):
        status, response = target.post(_ROUTES[0], body, target.key, "192.0.2.1")
        counts.sent += 1
        if status == http.HTTPStatus.OK:
            counts.accepted += 1
        else:
            counts.findings.append(f"large send beside {beside}: {status} {response[:200]!r}")


def _large_email() -> bytes:
    content = base64.b64encode(bytes(MAX_BYTES_EACH)).decode()
    files = [
        {"filename": f"{n}.pdf", "contentType": "application/pdf", "content": content}
        for n in range(2)
    ]
    email = {"to": "a@example.com", "subject": "Scans", "html": "<p>x</p>", "attachments": files}
    return json.dumps(email).encode()


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _peak(pid: int) -> int:
    """Return the peak resident memory of a process in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if "VmHWM" in line)
    return int(line.split()[1]) * 1024


def run(step: int = 1, sockets: int = 40, flood: int = 20) -> Counts:
    """Run every attack.

    Args:
        step: only every so manieth body is sent.
        sockets: how many sockets of each kind hold the front.
        flood: on how many connections one key sends.
    """
    counts = Counts()
    with front() as target:
        attack_parser(target, counts, step)
        attack_sockets(target, counts, sockets)
        attack_by_flood(target, counts, flood)
    return counts


def main() -> int:
    """Print what was found. Return 1 if it is more than nothing."""
    counts = run()
    for finding in counts.findings:
        print(finding)
    print(counts)
    return 1 if counts.findings else 0


if __name__ == "__main__":
    sys.exit(main())
