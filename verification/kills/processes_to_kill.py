"""The processes of a running local stack that can be killed, and how they restart.

The engine keeps the tables and queues in its memory, and the stack keeps the inbox: these two
are not killed. This module puts its own entrance before them: an edge and a front, which are
restarted at the same address when they are killed, as a container service does. The engine
restarts functions by itself, and the front restarts its handlers.
"""

import contextlib
import json
import os
import random
import secrets
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import psutil

from tests.stack import free_port, is_open, wait_for
from verification.stack import ROOT, client_of

#: Seconds that a function runs before it may be killed, since a cold start takes some.
_FUNCTION_AGE: Final = 2
#: Seconds that the edge or the front serves before it may be killed, so that mail gets through.
_SERVES_FOR: Final = 2


@dataclass(frozen=True)
class Target:
    """A process that may be killed now; `kind` names its program."""

    kind: str
    kill: Callable[[], None]


class Program:
    """A process that is restarted at the same address when it is killed."""

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
        """Return whether it accepts connections."""
        return is_open(self._port)

    def has_served(self) -> bool:
        """Return whether it has been up for a while; call this repeatedly."""
        if not self.answers():
            self._up_since = None
            return False
        self._up_since = self._up_since or time.monotonic()
        return time.monotonic() - self._up_since > _SERVES_FOR

    def kill(self) -> None:
        """Kill the process and restart it."""
        self._up_since = None
        self.end()
        self._process = self._start()

    def end(self) -> None:
        """Kill the process without a restart."""
        self._process.kill()
        self._process.wait()

    def handlers(self) -> list[psutil.Process]:
        """Return its worker processes. One that was killed stays a zombie until it is replaced."""
        children = psutil.Process(self._process.pid).children()
        return [
            child
            for child in children
            if child.status() != psutil.STATUS_ZOMBIE and "spawn_main" in " ".join(child.cmdline())
        ]


@dataclass(frozen=True)
class Entrance:
    """An edge and a front that serve a running stack."""

    edge: Program
    front: Program

    @property
    def url(self) -> str:
        return self.edge.url

    def targets(self) -> list[Target]:
        """Return the processes that have served for a while and can be killed now."""
        targets = [
            Target(part.kind, part.kill) for part in (self.edge, self.front) if part.has_served()
        ]
        if self.front.answers():
            targets += [Target("handler", child.kill) for child in self.front.handlers()]
        return targets


@contextlib.contextmanager
def entrance(stack: dict[str, Any]) -> Iterator[Entrance]:
    """Serve a running stack through a new entrance."""
    port, front_port, secret = free_port(), free_port(), secrets.token_hex(16)
    settings = {
        "PILLARBOX_EDGE_SECRET": secret,
        "PILLARBOX_PORT": str(front_port),
        "POWERTOOLS_SERVICE_NAME": "pillarbox",
    }
    arguments = {
        "stage": _stage(stack["environment"]),
        "access_key_id": stack["environment"]["AWS_ACCESS_KEY_ID"],
        "secret": secret,
        "port": port,
    }
    with contextlib.ExitStack() as parts:
        environment = os.environ | stack["environment"] | settings
        front_program = Program("front", ["-m", "front"], front_port, environment)
        parts.callback(front_program.end)
        command = ["-m", "verification.kills.edge_program"]
        command.append(json.dumps(arguments | {"front": front_program.url}))
        edge = Program("edge", command, port, os.environ)
        parts.callback(edge.end)
        wait_for(lambda: edge.answers() and front_program.answers())
        yield Entrance(edge, front_program)


def _stage(environment: Mapping[str, str]) -> str:
    """Return the URL at which the engine serves the API."""
    with contextlib.closing(client_of(environment, "apigateway")) as gateway:
        (api,) = gateway.get_rest_apis()["items"]
    return f"{environment['AWS_ENDPOINT_URL']}/restapis/{api['id']}/api/_user_request_"


def functions(engine: int) -> list[Target]:
    """Return the processes of an engine's functions that have run for a moment."""
    targets = []
    for worker in psutil.Process(engine).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended on its own
            age = time.time() - worker.create_time()
            # A zombie was killed already.
            if age > _FUNCTION_AGE and worker.status() != psutil.STATUS_ZOMBIE:
                name = worker.environ().get("AWS_LAMBDA_FUNCTION_NAME", "")
                if name:
                    targets.append(Target(name.split("-")[1], worker.kill))
    return targets


def kill_at_random(
    targets: Callable[[], list[Target]],
    over: Callable[[Counter[str]], bool],
    draw: random.Random,
    pause: tuple[float, float],
) -> Counter[str]:
    """Kill one target after another, each time one of the kind that was killed least.

    Args:
        targets: returns the processes that may be killed now.
        over: returns whether to stop; called before each kill with the kills by kind so far.
        draw: chooses the target and the time.
        pause: the shortest and the longest time between two kills, in seconds.

    Returns:
        the number of kills, by kind.
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
