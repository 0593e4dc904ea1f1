"""The service behind the relay: its threads, its log line, and the memory of large messages."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pillarbox.domain.client_origin import ClientOrigin
from relay import service
from relay.batcher import SubmissionBatcher
from relay.places import PlacesByName
from relay.service import ThreadedService
from tests.fakes import builders

ORIGIN = ClientOrigin("192.0.2.1")
KEY = builders.key_text()
RECIPIENTS = ("ann@example.com",)


class Submission:
    """A use case that accepts every message, and records which calls it gets."""

    def __init__(self, *, groupable: bool = True) -> None:
        self.groupable = groupable
        self.calls: list[str] = []

    def prepare(self, *_: object) -> SimpleNamespace:
        self.calls.append("prepare")
        return SimpleNamespace(groupable=self.groupable)

    def submit(self, *_: object, **__: object) -> str:
        self.calls.append("submit")
        return "an id"


def submit(submission: Submission, size: int, key: str = KEY) -> str:
    """Submit a message, and let the event loop do what it has planned for afterwards."""
    threaded = ThreadedService(lambda: cast("Any", submission))

    async def run() -> str:
        try:
            return await threaded.submit(key, RECIPIENTS, bytearray(size), ORIGIN)
        finally:
            await asyncio.sleep(0)

    return asyncio.run(run())


def test_an_account_has_a_quarter_of_the_threads() -> None:
    assert (service.THREADS, service.THREADS_OF_ACCOUNT) == (32, 8)
    threaded = ThreadedService(lambda: cast("Any", Submission()))
    assert threaded._threads._max_workers == 32


@pytest.mark.parametrize("groupable", [True, False])
def test_a_message_alone_is_put_alone(*, groupable: bool) -> None:
    submission = Submission(groupable=groupable)
    assert submit(submission, 1) == "an id"
    assert submission.calls == ["prepare", "submit"]


@pytest.mark.parametrize("groupable", [True, False])
def test_only_groupable_messages_wait_for_others(
    monkeypatch: pytest.MonkeyPatch, *, groupable: bool
) -> None:
    async def submit_in_batch(*_: object) -> str:
        return "an id of a batch"

    monkeypatch.setattr(SubmissionBatcher, "submit", submit_in_batch)
    expected = "an id of a batch" if groupable else "an id"
    assert submit(Submission(groupable=groupable), 1) == expected


def test_the_keys_of_an_account_share_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []

    class Places(PlacesByName):
        @asynccontextmanager
        async def acquire(self, name: str) -> AsyncIterator[None]:
            names.append(name)
            yield

    monkeypatch.setattr(service, "PlacesByName", Places)
    for key in (builders.key_text(), builders.key_text(), "no key"):
        submit(Submission(), 1, key)
    assert names == [builders.ACCOUNT] * 4 + ["no key"] * 2


def test_the_duration_of_a_message(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    times = iter((100.0, 350.2504))
    monkeypatch.setattr(service, "time", SimpleNamespace(monotonic=lambda: next(times)))
    caplog.set_level(logging.INFO, "relay")
    submit(Submission(), 5)
    (line,) = caplog.records
    assert (line.message, vars(line)["milliseconds"], vars(line)["size"]) == (
        "accepted",
        250_250,
        5,
    )
