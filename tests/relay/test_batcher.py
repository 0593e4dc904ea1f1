"""Messages that are ready at the same time: which share a call, and who gets which outcome."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from relay.batcher import SubmissionBatcher

#: Two batches of SQS.
MAX_BATCH_SIZE = 20

#: Seconds. A test takes none, unless a message waits for a call that never comes.
PATIENCE = 20


class RecordingCall:
    """A call that ends when the test says so; it doubles its arguments and fails negative ones."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[int]]] = []
        self.ends: list[asyncio.Event] = []
        self.fault: Exception | None = None

    async def __call__(self, key: str, arguments: Sequence[int]) -> Sequence[int | Exception]:
        self.calls.append((key, list(arguments)))
        self.ends.append(asyncio.Event())
        await self.ends[-1].wait()
        if self.fault:
            raise self.fault
        return [ValueError(number) if number < 0 else 2 * number for number in arguments]


type Batcher = SubmissionBatcher[int, int]


async def run_pending_tasks() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def submit_in_turn(
    batcher: Batcher, *numbers: int, key: str = "a"
) -> list[asyncio.Task[int]]:
    tasks = []
    for number in numbers:
        tasks.append(asyncio.create_task(batcher.submit(key, number)))
        await run_pending_tasks()
    return tasks


@asynccontextmanager
async def batching() -> AsyncIterator[tuple[RecordingCall, Batcher]]:
    """Yield a call and its batcher, which keeps nothing at the end."""
    call = RecordingCall()
    batcher = SubmissionBatcher(call)
    async with asyncio.timeout(PATIENCE):
        yield call, batcher
    await run_pending_tasks()
    assert not batcher._queues
    assert not batcher._tasks


async def test_waiting_messages_go_together() -> None:
    async with batching() as (call, batcher):
        tasks = await submit_in_turn(batcher, 1, 2, 3, 4, 5)
        assert call.calls == [("a", [1]), ("a", [2])]
        call.ends[1].set()
        assert await tasks[1] == 4
        await run_pending_tasks()
        assert not tasks[0].done()
        assert not tasks[2].done()
        for end in call.ends:
            end.set()
        assert await asyncio.gather(*tasks) == [2, 4, 6, 8, 10]
    assert call.calls == [("a", [1]), ("a", [2]), ("a", [3, 4, 5])]


async def test_a_call_that_ends_does_not_forget_the_other_one() -> None:
    async with batching() as (call, batcher):
        tasks = await submit_in_turn(batcher, 1, 2)
        call.ends[0].set()
        assert await tasks[0] == 2
        tasks += await submit_in_turn(batcher, 3, 4)
        assert call.calls == [("a", [1]), ("a", [2]), ("a", [3])]
        call.ends[1].set()
        await run_pending_tasks()
        for end in call.ends:
            end.set()
        assert await asyncio.gather(*tasks) == [2, 4, 6, 8]
    assert call.calls[-1] == ("a", [4])


async def test_simultaneous_messages_go_together() -> None:
    async with batching() as (call, batcher):
        tasks = [asyncio.create_task(batcher.submit("a", number)) for number in (1, 2, 3)]
        await run_pending_tasks()
        call.ends[0].set()
        assert await asyncio.gather(*tasks) == [2, 4, 6]
    assert call.calls == [("a", [1, 2, 3])]


async def test_keys_do_not_wait_for_each_other() -> None:
    async with batching() as (call, batcher):
        tasks = await submit_in_turn(batcher, 1, 2, 3)
        (other,) = await submit_in_turn(batcher, 4, key="b")
        call.ends[2].set()
        assert await other == 8
        for end in call.ends:
            end.set()
        await run_pending_tasks()
        call.ends[3].set()
        assert await asyncio.gather(*tasks) == [2, 4, 6]
    assert call.calls == [("a", [1]), ("a", [2]), ("b", [4]), ("a", [3])]


async def test_batch_size_is_limited() -> None:
    async with batching() as (call, batcher):
        tasks = await submit_in_turn(batcher, *range(MAX_BATCH_SIZE + 5))
        for number in range(4):
            call.ends[number].set()
            await run_pending_tasks()
        expected = [2 * number for number in range(MAX_BATCH_SIZE + 5)]
        assert await asyncio.gather(*tasks) == expected
    sizes = [len(numbers) for _, numbers in call.calls]
    assert sizes == [1, 1, MAX_BATCH_SIZE, 3]


async def test_each_message_has_its_own_outcome() -> None:
    async with batching() as (call, batcher):
        tasks = [asyncio.create_task(batcher.submit("a", number)) for number in (1, -2, 3)]
        await run_pending_tasks()
        call.ends[0].set()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert outcomes[::2] == [2, 6]
        assert isinstance(outcomes[1], ValueError)


async def test_failed_call_fails_all_its_messages() -> None:
    async with batching() as (call, batcher):
        call.fault = ConnectionError()
        tasks = [asyncio.create_task(batcher.submit("a", number)) for number in (1, 2)]
        await run_pending_tasks()
        call.ends[0].set()
        for task in tasks:
            with pytest.raises(ConnectionError):
                await task
        call.fault = None
        (after,) = await submit_in_turn(batcher, 3)
        call.ends[1].set()
        assert await after == 6


async def test_cancelled_submission_does_not_affect_others() -> None:
    async with batching() as (call, batcher):
        tasks = [asyncio.create_task(batcher.submit("a", number)) for number in (1, 2)]
        await run_pending_tasks()
        tasks[0].cancel()
        await run_pending_tasks()
        call.ends[0].set()
        assert await tasks[1] == 4
        assert tasks[0].cancelled()
