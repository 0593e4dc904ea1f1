"""Attack the front: bodies that are costly to read, and sockets that hold it.

`python -m front` runs on 127.0.0.1 with its real handlers over the fakes. It gets every body of
`large_bodies`, as a send and as a batch. Then idle, slow and stalled sockets hold it, and one key
floods it, while another key sends emails of 14 MB from another address. Peaks of memory are the
kernel's VmHWM.
"""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import Final

import psutil

from tests.fakes import builders
from tests.stack import free_port, wait_for
from verification.attacks.large_bodies import bodies
from verification.attacks.tally import Options, Tally
from verification.memory.clients import front_body

ROOT: Final = Path(__file__).parents[2]
_SECRET: Final = "attack"
_MIB: Final = 1024 * 1024
_ROUTES: Final = ("/api/v1/emails", "/api/v1/emails/batch")
#: Seconds of CPU on a usual machine.
_SLOW: Final = 2.0
_PATIENCE: Final = 60
_BODIES: Final = 20
#: Seconds of CPU that this machine's usual speed needs for the rounds of `slowness`.
_USUAL: Final = 0.025
_ROUNDS: Final = 500_000


@cache
def slowness() -> float:
    """Return how many times slower this machine is than the usual one, at least 1."""
    started = time.process_time()
    for _ in range(5):
        sum(number * number for number in range(_ROUNDS))
    return max(1.0, (time.process_time() - started) / 5 / _USUAL)


def new_tally() -> Tally:
    """Return a tally of what must not happen to the front."""
    return Tally("5xx", "over 2 s of CPU", "deaths of the worker", "large sends refused")


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


def attack_parser(target: Target, tally: Tally, step: int = 1) -> None:
    """Send each body on both routes, or every so manieth on one of them in turn."""
    for number, (name, build) in enumerate(islice(bodies(), 0, None, step)):
        body = build()
        for route in _ROUTES if step == 1 else _ROUTES[number % 2 - 1 :][:1]:
            worker = target.worker
            before = _cpu(worker)
            status, response = target.post(route, body, target.key, f"192.0.2.{number % 250}")
            tally["bad inputs tried"] += 1
            tally.raise_to("bytes of the largest response", len(response))
            where = f"{name}, {route}"
            if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
                tally.find("5xx", f"{where}: {status} {response[:200]!r}")
            if not worker.is_running():
                tally.find("deaths of the worker", where)
                continue
            spent = _cpu(worker) - before
            tally.raise_to("ms of CPU at most", round(spent * 1000))
            tally.raise_to("MiB of the worker at most", _peak(worker.pid) // _MIB)
            if spent > _SLOW * slowness():
                tally.find("over 2 s of CPU", f"{where}: {spent:.1f} s")


def attack_sockets(target: Target, tally: Tally, number: int, sends: int = 5) -> None:
    """Hold the front by sockets of each kind, and send large emails beside them."""
    for hold in (_announce, _stall, _trickle):
        with ExitStack() as stack:
            for n in range(number):
                connection = socket.create_connection(("127.0.0.1", target.port), _PATIENCE)
                stack.enter_context(connection)
                # Each has a key of the right form and an address of its own.
                hold(connection, headers(builders.key_text(f"forged{n:06}"), f"198.51.{n}.1"))
                tally["sockets held"] += 1
            time.sleep(1.5)
            _send_large(target, tally, hold.__name__, sends)


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


def attack_by_flood(target: Target, tally: Tally, number: int, sends: int = 5) -> None:
    """Let one key send large emails on so many connections at a time, and others beside them."""
    stop = Event()
    body = front_body()

    def flood() -> None:
        while not stop.is_set():
            status, _ = target.post(_ROUTES[0], body, target.flooding_key, "203.0.113.1")
            tally["requests of the flood"] += 1
            if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
                tally.find("5xx", f"flood: {status}")

    threads = [Thread(target=flood) for _ in range(number)]
    for thread in threads:
        thread.start()
    wait_for(lambda: tally["requests of the flood"] > number)
    _send_large(target, tally, "flood", sends)
    stop.set()
    for thread in threads:
        thread.join()


def _send_large(target: Target, tally: Tally, beside: str, times: int) -> None:
    body = front_body()
    for _ in range(times):
        status, response = target.post(_ROUTES[0], body, target.key, "192.0.2.1")
        tally["large sends"] += 1
        if status != http.HTTPStatus.OK:
            tally.find("large sends refused", f"beside {beside}: {status} {response[:200]!r}")


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _peak(pid: int) -> int:
    """Return the peak resident memory of a process in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if "VmHWM" in line)
    return int(line.split()[1]) * 1024


def measure_memory(target: Target, tally: Tally) -> None:
    """Send emails of 14 MB one after another, and note the memory of both processes."""
    processes = {"front": target.process.pid, "worker": target.worker.pid}
    for name, pid in processes.items():
        tally[f"MiB of the idle {name}"] = _peak(pid) // _MIB
    _send_large(target, tally, "nothing", _BODIES)
    for name, pid in processes.items():
        tally[f"MiB of the {name} after {_BODIES} of 14 MB"] = _peak(pid) // _MIB


def run(_: Options) -> Tally:
    """Measure, and run every attack."""
    tally = new_tally()
    with front() as target:
        measure_memory(target, tally)
        attack_parser(target, tally)
        attack_sockets(target, tally, 40)
        attack_by_flood(target, tally, 20)
    return tally
