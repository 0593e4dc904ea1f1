"""The event loop of the tests skips waits, and keeps their order and length."""

import asyncio

from tests.fakes import virtual_time


def test_an_hour_passes_at_once() -> None:
    """Tasks wake in the order of their times, and the clock shows exactly these."""

    async def wake(after: float) -> float:
        await asyncio.sleep(after)
        return asyncio.get_running_loop().time()

    async def run() -> list[float]:
        return [await task for task in asyncio.as_completed([wake(3600), wake(0.5), wake(60)])]

    assert virtual_time.run(run()) == [0.5, 60, 3600]
