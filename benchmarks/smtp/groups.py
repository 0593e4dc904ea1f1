"""Calls for each message, and how long it takes to be accepted, when calls take their time.

.venv/bin/python benchmarks/smtp/groups.py

The relay's service over ports that wait as a network does, which needs hardly any CPU, so
the figures say what the groups come to and not how fast the machine is.
"""

import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import uvloop

sys.path.insert(0, str(Path(__file__).parents[2]))
from pillarbox.application.sending.smtp import SmtpSubmission
from pillarbox.domain.quota import Limits
from relay import batcher
from relay.service import Envelope, ThreadedService
from tests.fakes import builders
from tests.fakes.world import World

MESSAGES: Final = 20
#: Seconds that a client takes, on average, from an answer to the end of its next message.
BETWEEN: Final = 0.003
ENVELOPE: Final = Envelope(builders.SENDER, ("ann@example.com",))
MESSAGE: Final = f"From: {builders.SENDER}\r\nSubject: Figures\r\n\r\n".encode() + b"x" * 900
ENDLESS: Final = Limits(per_minute=10**6, per_day=10**7, per_month=10**8)


class Distant:
    """A port whose calls take about so many seconds, and are counted."""

    def __init__(self, port: object, seconds: float, calls: Counter[str]) -> None:
        self._port, self._seconds, self._calls = port, seconds, calls

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._port, name)

        def call(*arguments: object, **named: object) -> Any:  # noqa: ANN401  the port's
            self._calls[name] += 1
            time.sleep(self._seconds * random.uniform(0.8, 1.4))  # noqa: S311  no secret
            return method(*arguments, **named)

        return call


def main() -> None:
    """Print a line for each number of groups at a time."""
    for at_once in (1, 2, 3):
        batcher.MAX_CONCURRENT_CALLS = at_once  # type: ignore[misc]
        for connections in (1, 10, 50):
            for seconds in (0.002, 0.008):
                print(f"{at_once} at once:", uvloop.run(measure(connections, seconds)), flush=True)


async def measure(connections: int, seconds: float) -> str:
    """Let so many connections send, each one message after another."""
    calls: Counter[str] = Counter()
    world = World(builders.account(overrides=ENDLESS))
    names = ("directory", "quotas", "jobs", "messages")
    ports: Any = {name: Distant(getattr(world.ports, name), seconds, calls) for name in names}
    relaying = SmtpSubmission(replace(world.ports, **ports))
    service = ThreadedService(lambda: relaying)
    took: list[float] = []

    async def send() -> None:
        for _ in range(MESSAGES):
            await asyncio.sleep(BETWEEN * random.uniform(0.5, 1.5))  # noqa: S311  no secret
            began = time.monotonic()
            await service.submit(world.live, ENVELOPE, bytearray(MESSAGE))
            took.append(time.monotonic() - began)

    await asyncio.gather(*(send() for _ in range(connections)))
    mean = sum(took) / len(took) * 1000
    return (
        f"{connections} connections, calls of {seconds * 1000:.0f} ms: "
        f"{calls.total() / len(took):.2f} calls a message, {mean:.0f} ms"
    )


if __name__ == "__main__":
    main()
