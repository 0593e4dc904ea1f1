"""The words that test promise 10: where requests have them, and how a search finds them."""

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from pillarbox.wiring import services
from tests.contract.ses_domains import aws_response

CANARY: Final = "canary7f3a"
#: An address whose local part and domain the search finds separately.
ADDRESS: Final = f"{CANARY}@customer.example"
URL: Final = f"https://customer.example/{CANARY}"
CODE: Final = "482913"


def traces(output: str) -> set[str]:
    """Return the parts of keys, bodies, variables and addresses that an output contains."""
    searched = output.lower()
    encoded = {_encoded(before).lower() for before in range(3)}
    plain = {CANARY, "bx_live_", "bx_preview_", "whsec_", "customer.example"}
    found = {trace for trace in plain | encoded if trace in searched}
    # A part of a longer number is not the code: a time in milliseconds has it every few hours. The
    # pattern starts with the code, because that is searched many times faster.
    return found | set(re.findall(rf"{CODE}(?<!\d{CODE})(?!\d)", searched))


def _encoded(before: int) -> str:
    """Return the base64 letters that depend only on the word, which starts after some octets."""
    text = base64.b64encode(b"-" * before + CANARY.encode()).decode()
    return text[-(-before * 8 // 6) : (before + len(CANARY)) * 8 // 6]


@contextmanager
def failing(*operations: str) -> Iterator[None]:
    """Let these calls to the tables fail unexpectedly, with a message that quotes the input."""

    def fail(**_: object) -> Any:
        return aws_response(400, {"Error": {"Code": "ValidationException", "Message": CANARY}})

    clients = [table.client.meta.events for table in (services().table, services().credentials)]
    names = [f"before-call.dynamodb.{operation}" for operation in operations]
    for events in clients:
        for name in names:
            events.register_first(name, fail)
    try:
        yield
    finally:
        for events in clients:
            for name in names:
                events.unregister(name, fail)
