"""The words that promise 10 is held by: where they go in, and how they are looked for."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from pillarbox.wiring import services
from tests.contract.service import answered

CANARY: Final = "canary7f3a"
#: Where the local part would be found in a log, the domain cannot hide it.
ADDRESS: Final = f"{CANARY}@customer.example"
URL: Final = f"https://customer.example/{CANARY}"


def traces(output: str) -> set[str]:
    """What of keys, bodies, variables and addresses is in some output, however it is written."""
    searched = output.lower()
    encoded = {_encoded(before).lower() for before in range(3)}
    plain = {CANARY, "bx_live_", "bx_preview_", "482913", "customer.example"}
    return {trace for trace in plain | encoded if trace in searched}


def _encoded(before: int) -> str:
    """The letters of base64 that depend on the word alone, so many octets after a whole group."""
    text = base64.b64encode(b"-" * before + CANARY.encode()).decode()
    return text[-(-before * 8 // 6) : (before + len(CANARY)) * 8 // 6]


@contextmanager
def failing(*operations: str) -> Iterator[None]:
    """Let these calls of the table fail as nobody foresaw, with a message that quotes its input."""

    def fail(**_: object) -> Any:
        return answered(400, {"Error": {"Code": "ValidationException", "Message": CANARY}})

    events = services().table.client.meta.events
    names = [f"before-call.dynamodb.{operation}" for operation in operations]
    for name in names:
        events.register_first(name, fail)
    try:
        yield
    finally:
        for name in names:
            events.unregister(name, fail)
