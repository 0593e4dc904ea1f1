"""The processes of a running local stack that can be killed, and how they come back.

The engine keeps the tables and queues in its memory, and the stack the inbox in its own: those
two stay. Before them stands an entrance of our own, an edge and a front that are started again
at the same address when they are killed, as a container service does; the engine starts
functions again by itself, and the front its handlers.
"""

import contextlib
import json
import os
import random
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import boto3
import psutil

from tests.stack import free_port

ROOT: Final = Path(__file__).parents[2]
#: Seconds that a function lives before it may be killed: a cold start takes some.
_FUNCTION_AGE: Final = 2
#: Seconds that the edge or the front is up before it may be killed: mail gets through meanwhile.
_UP_FOR: Final = 2
#: Seconds, on a machine that is busy with other things.
_STARTS_WITHIN: Final = 120


@dataclass(frozen=True)
class Target:
    """A process that may be killed now; `kind` names what it runs."""

    kind: str
    kill: Callable[[], None]


class Program:
    """A process that comes back at the same address when it is killed."""

    def __init__(
        self, kind: str, command: list[str], port: int, environment: Mapping[str, str]
    ) -> None:
        self.kind = kind
        self.url = f"http://127.0.0.1:{port}"
        self._port = port
        self._command = command
        self._environment = dict(environment)
        self._up_since: float | None = None
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, *self._command],
            cwd=ROOT,
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def answers(self) -> bool:
        """Whether it takes connections."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 5):
            return True
        return False

    def has_served(self) -> bool:
        """Whether it has been up for a while; asked now and then."""
        if not self.answers():
            self._up_since = None
            return False
        self._up_since = self._up_since or time.monotonic()
        return time.monotonic() - self._up_since > _UP_FOR

    def kill(self) -> None:
        """Kill it, and start it again."""
        self._up_since = None
        self.end()
        self._process = self._start()

    def end(self) -> None:
        """Kill it for good."""
        self._process.kill()
        self._process.wait()

    def handlers(self) -> list[psutil.Process]:
        """The processes that it has made for its work."""
        made = psutil.Process(self._process.pid).children()
        return [child for child in made if "spawn_main" in " ".join(child.cmdline())]


@dataclass(frozen=True)
class Entrance:
    """An edge and a front before a running stack."""

    edge: Program
    front: Program

    @property
    def url(self) -> str:
        return self.edge.url

    def targets(self) -> list[Target]:
        """Return what can be killed of it now: what has served for a while."""
        found = [
            Target(part.kind, part.kill) for part in (self.edge, self.front) if part.has_served()
        ]
        if self.front.answers():
            found += [Target("handler", child.kill) for child in self.front.handlers()]
        return found


@contextlib.contextmanager
def entrance(stack: dict[str, Any], front: tuple[str, ...] = ("-m", "front")) -> Iterator[Entrance]:
    """Serve a running stack by an entrance of our own; `front` is the program it runs."""
    port, behind, secret = free_port(), free_port(), secrets.token_hex(16)
    settings = {
        "PILLARBOX_EDGE_SECRET": secret,
        "PILLARBOX_FRONT_HOST": "127.0.0.1",
        "PILLARBOX_FRONT_PORT": str(behind),
        "POWERTOOLS_SERVICE_NAME": "pillarbox",
    }
    told = {"stage": _stage(stack["environment"]), "secret": secret, "port": port}
    with contextlib.ExitStack() as parts:
        environment = os.environ | stack["environment"] | settings
        served = Program("front", list(front), behind, environment)
        parts.callback(served.end)
        asked = json.dumps(told | {"front": served.url})
        edge = Program("edge", ["-m", "verification.kills.edge_program", asked], port, os.environ)
        parts.callback(edge.end)
        late = time.monotonic() + _STARTS_WITHIN
        while not (edge.answers() and served.answers()):
            assert time.monotonic() < late, "the entrance does not answer"
            time.sleep(0.1)
        yield Entrance(edge, served)


def _stage(environment: Mapping[str, str]) -> str:
    """Where the engine serves the API."""
    with contextlib.closing(client_of(environment, "apigateway")) as gateway:
        (api,) = gateway.get_rest_apis()["items"]
    return f"{environment['AWS_ENDPOINT_URL']}/restapis/{api['id']}/api/_user_request_"


def client_of(environment: Mapping[str, str], service: str) -> Any:
    """A client that speaks to the engine of a running stack."""
    return boto3.client(  # type: ignore[call-overload]
        service,
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        region_name=environment["AWS_REGION"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )


def functions(engine: int) -> list[Target]:
    """The processes of an engine's functions, those that have lived a moment."""
    found = []
    for worker in psutil.Process(engine).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended by itself
            age = time.time() - worker.create_time()
            # A zombie was killed before.
            if age > _FUNCTION_AGE and worker.status() != psutil.STATUS_ZOMBIE:
                name = worker.environ().get("AWS_LAMBDA_FUNCTION_NAME", "")
                if name:
                    found.append(Target(name.split("-")[1], worker.kill))
    return found


def kill_at_random(
    targets: Callable[[], list[Target]],
    over: Callable[[Counter[str]], bool],
    draw: random.Random,
    pause: tuple[float, float],
) -> Counter[str]:
    """Kill one target after another until it is over, each time one of the kind least killed.

    Args:
        targets: returns those that may be killed at the moment.
        over: whether to stop, asked before each kill with the kills by kind so far.
        draw: chooses the target and the moment.
        pause: the shortest and the longest between two, in seconds.

    Returns:
        how many were killed, by kind.
    """
    killed = Counter[str]()
    while not over(killed):
        threading.Event().wait(draw.uniform(*pause))
        with contextlib.suppress(psutil.NoSuchProcess):
            by_kind: dict[str, list[Target]] = {}
            for target in targets():
                by_kind.setdefault(target.kind, []).append(target)
            if by_kind:
                kind = min(sorted(by_kind), key=lambda kind: (killed[kind], draw.random()))
                chosen = draw.choice(by_kind[kind])
                chosen.kill()
                killed[chosen.kind] += 1
    return killed
