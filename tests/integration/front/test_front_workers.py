"""Handlers run in processes of their own, one request each at a time; a dead one is replaced."""

import asyncio
import os
import time
from base64 import b64decode
from multiprocessing.connection import Connection
from typing import Any

import pytest

from front.workers import NoWorkerFree, WorkerDied, Workers, serve_handlers


def obey(pipe: Connection) -> None:
    """A worker that does what the event says, and tells which process it is."""
    pipe.send(True)
    while True:
        try:
            _, event, _ = pipe.recv()
            body = pipe.recv_bytes()
        except EOFError:
            return
        if event.get("die"):
            os._exit(1)
        time.sleep(event.get("sleep", 0))
        pipe.send({"pid": os.getpid(), "body": body.decode()})


def never_ready(_: Connection) -> None:
    """A worker that ends at its start."""


async def pid_of(workers: Workers, **event: Any) -> int:
    answer = await workers.run("f", event, b"x")
    pid: int = answer["pid"]
    return pid


def test_each_process_has_one_request_at_a_time() -> None:
    """Of three requests two run side by side; the third waits for a process that is free."""

    async def run() -> list[int]:
        async with Workers(2, obey) as workers:
            return await asyncio.gather(*(pid_of(workers, sleep=0.05) for _ in range(3)))

    pids = asyncio.run(run())
    assert len(set(pids)) == 2
    assert os.getpid() not in pids


def test_a_dead_process_is_replaced() -> None:
    """The request of a process that dies fails, and the next one is answered by another."""

    async def run() -> tuple[int, int]:
        async with Workers(1, obey) as workers:
            before = await pid_of(workers)
            with pytest.raises(WorkerDied):
                await pid_of(workers, die=True)
            return before, await pid_of(workers)

    before, after = asyncio.run(run())
    assert before != after


def test_a_process_that_takes_too_long_is_ended() -> None:
    """Past the time limit the process is gone, so that no claim outlives its owner's lease."""

    async def run() -> tuple[int, int]:
        async with Workers(1, obey, time_limit=0.2) as workers:
            before = await pid_of(workers)
            with pytest.raises(WorkerDied):
                await pid_of(workers, sleep=3600)
            return before, await pid_of(workers)

    before, after = asyncio.run(run())
    assert before != after
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)


def test_a_request_does_not_wait_for_ever() -> None:
    """When no process gets free in time the request is not begun; a later one is."""

    async def run() -> None:
        async with Workers(1, obey, free_within=0.1) as workers:
            first = asyncio.create_task(pid_of(workers, sleep=0.5))
            await asyncio.sleep(0)
            with pytest.raises(NoWorkerFree):
                await pid_of(workers)
            pid = await first
            assert await pid_of(workers) == pid

    asyncio.run(run())


def test_handlers_that_do_not_start_are_told_of() -> None:
    """When no process gets ready there is nobody to answer: the start fails."""

    async def run() -> None:
        async with Workers(1, never_ready):
            pytest.fail("there are no workers")

    with pytest.raises(WorkerDied):
        asyncio.run(run())


def test_no_process_is_left() -> None:
    """With the end of the block the processes are gone."""

    async def run() -> int:
        async with Workers(1, obey) as workers:
            return await pid_of(workers)

    with pytest.raises(ProcessLookupError):
        os.kill(asyncio.run(run()), 0)


def test_the_functions_answer_as_in_lambda(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real handlers run in the processes: a request without a key gets the contract's 401."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "pillarbox")
    event = {
        "resource": "/v1/emails/batch",
        "path": "/v1/emails/batch",
        "httpMethod": "POST",
        "headers": {},
        "multiValueHeaders": {},
        "pathParameters": None,
        "requestContext": {"requestId": "r-1"},
        "isBase64Encoded": True,
    }

    async def run() -> dict[str, Any]:
        async with Workers(1, serve_handlers) as workers:
            return dict(await workers.run("send_batch", event, b"{}"))

    answer = asyncio.run(run())
    body = answer["body"]
    text = b64decode(body).decode() if answer["isBase64Encoded"] else body
    assert answer["statusCode"] == 401
    assert "missing_api_key" in text
    assert answer["multiValueHeaders"]["X-Request-Id"] == ["r-1"]
