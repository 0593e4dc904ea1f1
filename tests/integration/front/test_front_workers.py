"""Each worker process runs one request at a time, and a dead one is replaced."""

import asyncio
import os
import time
from base64 import b64decode
from multiprocessing.connection import Connection
from typing import Any

import pytest

from front.workers import NoWorkerFree, WorkerDied, Workers, serve_handlers


def scripted_worker(pipe: Connection) -> None:
    """A worker that sleeps or dies as the event says, and returns its process id."""
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
    """A worker that ends as soon as it starts."""


async def pid_of(workers: Workers, **event: Any) -> int:
    response = await workers.run("f", event, b"x")
    pid: int = response["pid"]
    return pid


def test_each_process_has_one_request_at_a_time() -> None:
    async def run() -> list[int]:
        async with Workers(2, scripted_worker) as workers:
            return await asyncio.gather(*(pid_of(workers, sleep=0.05) for _ in range(3)))

    pids = asyncio.run(run())
    assert len(set(pids)) == 2
    assert os.getpid() not in pids


def test_a_dead_process_is_replaced() -> None:
    async def run() -> tuple[int, int]:
        async with Workers(1, scripted_worker) as workers:
            before = await pid_of(workers)
            with pytest.raises(WorkerDied):
                await pid_of(workers, die=True)
            return before, await pid_of(workers)

    before, after = asyncio.run(run())
    assert before != after


def test_a_process_over_the_time_limit_is_killed() -> None:
    """After the time limit the worker is gone, so that it cannot outlive its claim."""

    async def run() -> tuple[int, int]:
        async with Workers(1, scripted_worker, time_limit=0.2) as workers:
            before = await pid_of(workers)
            with pytest.raises(WorkerDied):
                await pid_of(workers, sleep=3600)
            return before, await pid_of(workers)

    before, after = asyncio.run(run())
    assert before != after
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)


def test_the_wait_for_a_worker_is_limited() -> None:
    async def run() -> None:
        async with Workers(1, scripted_worker, wait_limit=0.1) as workers:
            first = asyncio.create_task(pid_of(workers, sleep=0.5))
            await asyncio.sleep(0)
            with pytest.raises(NoWorkerFree):
                await pid_of(workers)
            pid = await first
            assert await pid_of(workers) == pid

    asyncio.run(run())


def test_workers_that_do_not_start_raise() -> None:
    async def run() -> None:
        async with Workers(1, never_ready):
            pytest.fail("the pool started without workers")

    with pytest.raises(WorkerDied):
        asyncio.run(run())


def test_no_process_remains() -> None:
    async def run() -> int:
        async with Workers(1, scripted_worker) as workers:
            return await pid_of(workers)

    with pytest.raises(ProcessLookupError):
        os.kill(asyncio.run(run()), 0)


def test_the_functions_answer_as_in_lambda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "pillarbox")
    event = {
        "resource": "/v1/emails/batch",
        "path": "/v1/emails/batch",
        "httpMethod": "POST",
        "headers": {"User-Agent": "shop/1.0"},
        "multiValueHeaders": {"User-Agent": ["shop/1.0"]},
        "pathParameters": None,
        "requestContext": {"requestId": "r-1"},
        "isBase64Encoded": True,
    }

    async def run() -> dict[str, Any]:
        async with Workers(1, serve_handlers) as workers:
            return dict(await workers.run("send_batch", event, b"{}"))

    response = asyncio.run(run())
    body = response["body"]
    text = b64decode(body).decode() if response["isBase64Encoded"] else body
    assert response["statusCode"] == 401
    assert "missing_api_key" in text
    assert response["multiValueHeaders"]["X-Request-Id"] == ["r-1"]
