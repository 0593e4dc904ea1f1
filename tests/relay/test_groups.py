"""Messages that are ready at one moment: who goes with whom, and who hears what."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from relay.groups import AT_ONCE, MOST, SubmissionBatcher


class Call:
    """A call that ends when it is let go; it doubles what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[int]]] = []
        self.ends: list[asyncio.Event] = []
        self.fault: Exception | None = None

    async def __call__(self, name: str, arguments: Sequence[int]) -> Sequence[int | Exception]:
        self.asked.append((name, list(arguments)))
        self.ends.append(asyncio.Event())
        await self.ends[-1].wait()
        if self.fault:
            raise self.fault
        return [ValueError(number) if number < 0 else 2 * number for number in arguments]


async def settled() -> None:
    """All that can go on has gone on."""
    for _ in range(10):
        await asyncio.sleep(0)


async def operator_errors(
    groups: SubmissionBatcher[int, int], *numbers: int, name: str = "a"
) -> list[asyncio.Task[int]]:
    """Ask for numbers, each a moment after the one before."""
    tasks = []
    for number in numbers:
        tasks.append(asyncio.create_task(groups.submit(name, number)))
        await settled()
    return tasks


def played(play: Callable[[Call, SubmissionBatcher[int, int]], Awaitable[None]]) -> Call:
    """What a call was asked in a play, after which nobody waits and nothing is kept."""

    async def run() -> Call:
        call = Call()
        groups = SubmissionBatcher(call)
        await play(call, groups)
        await settled()
        assert not groups._lines
        assert not groups._serving
        return call

    return asyncio.run(run())


def test_who_waits_goes_together() -> None:
    """Two go at once, each alone; who comes meanwhile goes with all who wait, once one ended."""

    async def play(call: Call, groups: SubmissionBatcher[int, int]) -> None:
        tasks = await operator_errors(groups, 1, 2, 3, 4, 5)
        assert call.asked == [("a", [1]), ("a", [2])]
        call.ends[1].set()
        assert await tasks[1] == 4
        await settled()
        assert not tasks[0].done()
        assert not tasks[2].done()
        for end in call.ends:
            end.set()
        assert await asyncio.gather(*tasks) == [2, 4, 6, 8, 10]

    assert AT_ONCE == 2
    assert played(play).asked == [("a", [1]), ("a", [2]), ("a", [3, 4, 5])]


def test_who_comes_at_one_moment_goes_together() -> None:
    """Those whose messages came in one read of the sockets make one call."""

    async def play(call: Call, groups: SubmissionBatcher[int, int]) -> None:
        tasks = [asyncio.create_task(groups.submit("a", number)) for number in (1, 2, 3)]
        await settled()
        call.ends[0].set()
        assert await asyncio.gather(*tasks) == [2, 4, 6]

    assert played(play).asked == [("a", [1, 2, 3])]


def test_names_do_not_wait_for_each_other() -> None:
    """A call under way for one name keeps nobody of another one waiting."""

    async def play(call: Call, groups: SubmissionBatcher[int, int]) -> None:
        held = await operator_errors(groups, 1, 2, 3)
        (other,) = await operator_errors(groups, 4, name="b")
        call.ends[2].set()
        assert await other == 8
        for end in call.ends:
            end.set()
        await settled()
        call.ends[3].set()
        assert await asyncio.gather(*held) == [2, 4, 6]

    assert played(play).asked == [("a", [1]), ("a", [2]), ("b", [4]), ("a", [3])]


def test_groups_are_bounded() -> None:
    """A group has no more than the most; the rest goes with the next."""

    async def play(call: Call, groups: SubmissionBatcher[int, int]) -> None:
        tasks = await operator_errors(groups, *range(MOST + 5))
        for number in range(4):
            call.ends[number].set()
            await settled()
        assert await asyncio.gather(*tasks) == [2 * number for number in range(MOST + 5)]

    sizes = [len(numbers) for _, numbers in played(play).asked]
    assert sizes == [1, 1, MOST, 3]


def test_each_has_its_own_outcome() -> None:
    """An error of one is raised for that one; the others get their answers."""

    async def play(call: Call, groups: SubmissionBatcher[int, int]) -> None:
        tasks = [asyncio.create_task(groups.submit("a", number)) for number in (1, -2, 3)]
        await settled()
        call.ends[0].set()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert outcomes[::2] == [2, 6]
        assert isinstance(outcomes[1], ValueError)

    played(play)


def test_a_call_that_fails_fails_all_its_members() -> None:
    """What the call raises each member hears; who comes after it is served."""

    async def play(call: Call, groups: SubmissionBatcher[int, int]) -> None:
        call.fault = ConnectionError()
        tasks = [asyncio.create_task(groups.submit("a", number)) for number in (1, 2)]
        await settled()
        call.ends[0].set()
        for task in tasks:
            with pytest.raises(ConnectionError):
                await task
        call.fault = None
        (after,) = await operator_errors(groups, 3)
        call.ends[1].set()
        assert await after == 6

    played(play)


def test_who_gave_up_harms_nobody() -> None:
    """One that is cancelled while its call is under way leaves the others their answers."""

    async def play(call: Call, groups: SubmissionBatcher[int, int]) -> None:
        tasks = [asyncio.create_task(groups.submit("a", number)) for number in (1, 2)]
        await settled()
        tasks[0].cancel()
        await settled()
        call.ends[0].set()
        assert await tasks[1] == 4
        assert tasks[0].cancelled()

    played(play)
