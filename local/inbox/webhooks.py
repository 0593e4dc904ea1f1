"""The webhooks that the stack's receivers got, and how the receivers answer."""

import json
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Literal

from local.inbox.signatures import Signature
from local.listeners import Listeners

type AnswerMode = Literal["ok", "error", "slow", "gone"]

#: The receiver to which the seeded account's endpoint points.
SEEDED_RECEIVER: Final = "shop"


@dataclass(frozen=True, slots=True)
class ReceiverAnswer:
    """How a receiver answers the next POSTs.

    `ok` is 204, `error` is 500 and `gone` is 410. `slow` gives no answer until the client leaves.
    `times` is the number of POSTs, after which `ok` applies again; None: no limit.
    """

    mode: AnswerMode = "ok"
    times: int | None = None

    @property
    def status(self) -> int | None:
        """The status, or None if there is no answer."""
        return {"ok": 204, "error": 500, "slow": None, "gone": 410}[self.mode]


@dataclass(frozen=True, eq=False)
class ReceivedWebhook:
    """A POST that a receiver got. `attempt` counts those with the same webhook-id."""

    id: str
    receiver: str
    received_at: datetime
    headers: tuple[tuple[str, str], ...]
    body: bytes = field(repr=False)
    signature: Signature
    status: int | None
    attempt: int

    def header(self, name: str) -> str:
        """Return the value of a header, or an empty text."""
        return next((value for key, value in self.headers if key == name), "")

    @cached_property
    def payload(self) -> Any:  # noqa: ANN401  JSON
        """The body as JSON, or None."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    @property
    def type(self) -> str:
        return _text(self.payload, "type")

    @property
    def message_id(self) -> str:
        """The email that an event is about, or that a received mail answers."""
        data = _member(self.payload, "data")
        return _text(data, "messageId") or _text(_member(data, "inReplyTo"), "messageId")

    @property
    def recipient(self) -> str:
        """The recipient that an event is about, or the address of a suppression."""
        data = _member(self.payload, "data")
        return _text(data, "recipient") or _text(data, "address")


class WebhookStore:
    """The received webhooks and the receivers' answers; used on the event loop alone.

    Args:
        keep: the maximum number of webhooks; the oldest are dropped.
        keep_bytes: the maximum size of all their bodies; the newest is always kept.
    """

    def __init__(self, keep: int = 1_000, keep_bytes: int = 32 * 1024 * 1024) -> None:
        #: The command that sends a first email; an empty receiver shows it. The stack sets it.
        self.hint = ""
        #: The command that points an endpoint at `RECEIVER`, for a receiver without one.
        self.endpoint_hint = ""
        self._listeners = Listeners[ReceivedWebhook | None]()
        self.closing = self._listeners.closing
        self._keep = keep
        self._keep_bytes = keep_bytes
        self._webhooks: deque[ReceivedWebhook] = deque()
        self._answers: dict[str, ReceiverAnswer] = {}

    def add(self, webhook: ReceivedWebhook) -> None:
        """Keep a webhook, drop the oldest over the limits, and notify the listeners."""
        self._webhooks.append(webhook)
        while len(self._webhooks) > self._keep or (
            sum(len(each.body) for each in self._webhooks) > self._keep_bytes
            and len(self._webhooks) > 1
        ):
            self._webhooks.popleft()
        self._listeners.notify(webhook)

    def newest_first(self) -> list[ReceivedWebhook]:
        return list(self._webhooks)[::-1]

    def get(self, received_id: str) -> ReceivedWebhook | None:
        return next((each for each in self._webhooks if each.id == received_id), None)

    def attempts(self, receiver: str, event_id: str) -> int:
        """Return how often a receiver got the event with this `webhook-id`."""
        return sum(
            each.receiver == receiver and each.header("webhook-id") == event_id
            for each in self._webhooks
        )

    def delete(self, webhooks: Iterable[ReceivedWebhook]) -> None:
        """Delete some webhooks, and send None to the listeners."""
        gone = {*webhooks}
        self._webhooks = deque(each for each in self._webhooks if each not in gone)
        self._listeners.notify(None)

    def answer(self, receiver: str) -> ReceiverAnswer:
        return self._answers.get(receiver, ReceiverAnswer())

    def set_answer(self, receiver: str, answer: ReceiverAnswer) -> None:
        self._answers[receiver] = answer

    def pop_answer(self, receiver: str) -> ReceiverAnswer:
        """Return the answer to one POST, and count it."""
        answer = self.answer(receiver)
        if answer.times is not None:
            left = answer.times - 1
            self._answers[receiver] = replace(answer, times=left) if left else ReceiverAnswer()
        return answer

    def arrivals(self) -> AsyncGenerator[ReceivedWebhook | None]:
        """Yield each new webhook, and None when some are deleted."""
        return self._listeners.arrivals()

    def close(self) -> None:
        """End live updates and slow answers, so that the server can stop."""
        self._listeners.close()


def _member(value: Any, name: str) -> Any:  # noqa: ANN401  JSON
    return value.get(name) if isinstance(value, Mapping) else None


def _text(value: Any, name: str) -> str:  # noqa: ANN401  JSON
    """Return a text of a payload, without lone surrogates: no response could show them."""
    text = _member(value, name)
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else ""
