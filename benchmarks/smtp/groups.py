"""AWS calls and the time until acceptance for each message, with simulated latency.

.venv/bin/python -m benchmarks.smtp.groups

The relay's service runs over ports that wait like a network. This needs hardly any CPU, so the
figures show the effect of groups, not the speed of the machine.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import uvloop

from pillarbox.application.sending.smtp import SmtpSubmission
from pillarbox.domain.client_origin import ClientOrigin
from relay import batcher
from relay.service import ThreadedService
from tests.fakes import builders
from tests.fakes.world import World

MESSAGES: Final = 20
#: Average seconds from a reply to the end of the client's next message.
PAUSE: Final = 0.003
RECIPIENTS: Final = ("ann@example.com",)
ORIGIN: Final = ClientOrigin("192.0.2.1")
MESSAGE: Final = f"From: {builders.SENDER}\r\nSubject: Figures\r\n\r\n".encode() + b"x" * 900


class SlowPort:
    """A port whose calls take about `seconds` seconds and are counted."""

    def __init__(self, port: object, seconds: float, calls: Counter[str]) -> None:
        self._port, self._seconds, self._calls = port, seconds, calls

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._port, name)

        def call(*arguments: object, **keywords: object) -> Any:  # noqa: ANN401  as the port returns it
            self._calls[name] += 1
            time.sleep(self._seconds * random.uniform(0.8, 1.4))  # noqa: S311  not a secret
            return method(*arguments, **keywords)

        return call


def main() -> None:
    """Print a line for each number of concurrent groups, connections and latency."""
    for at_once in (1, 2, 3):
        batcher.MAX_CONCURRENT_CALLS = at_once  # type: ignore[misc]
        for connections in (1, 10, 50):
            for seconds in (0.002, 0.008):
                print(f"{at_once} at once:", uvloop.run(measure(connections, seconds)), flush=True)


async def measure(connections: int, seconds: float) -> str:
    """Let some connections send at the same time, each one message after another."""
    calls: Counter[str] = Counter()
    world = World(builders.account(overrides=builders.UNLIMITED))
    names = ("directory", "quotas", "jobs", "messages")
    ports: Any = {name: SlowPort(getattr(world.ports, name), seconds, calls) for name in names}
    submission = SmtpSubmission(replace(world.ports, **ports), world.seen)
    service = ThreadedService(lambda: submission)
    durations: list[float] = []

    async def send() -> None:
        for _ in range(MESSAGES):
            await asyncio.sleep(PAUSE * random.uniform(0.5, 1.5))  # noqa: S311  not a secret
            started = time.monotonic()
            await service.submit(world.live, RECIPIENTS, bytearray(MESSAGE), ORIGIN)
            durations.append(time.monotonic() - started)

    await asyncio.gather(*(send() for _ in range(connections)))
    mean = sum(durations) / len(durations) * 1000
    return (
        f"{connections} connections, calls of {seconds * 1000:.0f} ms: "
        f"{calls.total() / len(durations):.2f} calls a message, {mean:.0f} ms"
    )


if __name__ == "__main__":
    main()
