"""Two keys of one account at the relay: each message is accepted under its own key."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from pillarbox.application.sending.smtp import SmtpMessage, SmtpSubmission
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError
from relay.service import ThreadedService
from tests.fakes import builders
from tests.fakes.world import World
from tests.stack import wait_for

ORIGIN = ClientOrigin("192.0.2.1")
MESSAGE = f"From: {builders.SENDER}\r\nSubject: Two keys\r\n\r\nHello".encode()
RECIPIENTS = ("ann@example.com",)
#: Messages of each key. Two calls of a key run at a time, so the others wait and go together.
COUNT = 5


class BlockedSubmission:
    """The use case over a world; its calls wait until the test opens the gate."""

    def __init__(self, world: World) -> None:
        self._submission = SmtpSubmission(world.ports, world.seen)
        self.open = threading.Event()
        self.calls: list[tuple[str, int]] = []

    def prepare(self, key: str, recipients: tuple[str, ...], octets: bytearray) -> SmtpMessage:
        return self._submission.prepare(key, recipients, octets)

    def submit(self, key: str, message: SmtpMessage, *, origin: ClientOrigin) -> str:
        with self._call(key, 1):
            return self._submission.submit(key, message, origin=origin)

    def submit_all(
        self, key: str, messages: Sequence[SmtpMessage], *, origin: ClientOrigin
    ) -> Sequence[str | ServiceError]:
        with self._call(key, len(messages)):
            return self._submission.submit_all(key, messages, origin=origin)

    @contextmanager
    def _call(self, key: str, count: int) -> Iterator[None]:
        self.calls.append((key, count))
        assert self.open.wait(60)
        yield


def second_key(world: World, **changes: Any) -> str:
    """Add a key to the account of the world, and return its text."""
    text = builders.key_text()
    key = builders.api_key(text, **changes)
    world.store.keys[key.digest] = key
    return text


def send(world: World, blocked: BlockedSubmission, *keys: str) -> dict[str, Counter[str]]:
    """Send messages under each key at the same time; return the outcomes by key."""
    service = ThreadedService(lambda: cast("SmtpSubmission", blocked))
    outcomes: dict[str, Counter[str]] = {key: Counter() for key in keys}

    async def submit(key: str) -> None:
        try:
            await service.submit(key, RECIPIENTS, bytearray(MESSAGE), ORIGIN)
        except ServiceError as error:
            outcomes[key][error.code] += 1
        else:
            outcomes[key]["accepted"] += 1

    async def run() -> None:
        sending = [asyncio.create_task(submit(key)) for _ in range(COUNT) for key in keys]
        # Two calls of each key are running, or as many as there will be.
        await asyncio.to_thread(wait_for, lambda: len(blocked.calls) >= 2)
        blocked.open.set()
        await asyncio.gather(*sending)

    asyncio.run(run())
    assert len(world.store.messages) == sum(counts["accepted"] for counts in outcomes.values())
    return outcomes


def test_messages_are_grouped_by_key() -> None:
    world = World()
    other, blocked = second_key(world), BlockedSubmission(world)
    outcomes = send(world, blocked, world.live, other)
    assert outcomes == {world.live: {"accepted": COUNT}, other: {"accepted": COUNT}}
    submitted = Counter[str]()
    for key, count in blocked.calls:
        submitted[key] += count
    assert submitted == {world.live: COUNT, other: COUNT}


def test_a_revoked_key_does_not_stop_another_key_of_its_account() -> None:
    """Messages of a revoked key are refused, those of the other key are accepted (promise 11)."""
    world = World()
    revoked = second_key(world, revoked_at=builders.NOW)
    outcomes = send(world, BlockedSubmission(world), world.live, revoked)
    assert outcomes == {world.live: {"accepted": COUNT}, revoked: {"invalid_api_key": COUNT}}


def test_a_key_without_the_right_to_send_does_not_borrow_it() -> None:
    world = World()
    reading = second_key(world, scopes=frozenset({"emails:read"}))
    outcomes = send(world, BlockedSubmission(world), world.live, reading)
    assert outcomes == {world.live: {"accepted": COUNT}, reading: {"scope_required": COUNT}}
