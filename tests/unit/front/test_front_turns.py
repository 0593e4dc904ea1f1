"""The workers are shared: a flood of one key or one address does not delay the others."""

import asyncio

import pytest

from front.turns import Owners, Turns


async def order_of(requests: list[Owners]) -> list[Owners]:
    """Return in which order requests get the only worker, if all wait at the same time."""
    turns: Turns[str] = Turns()
    order: list[Owners] = []

    async def run(owners: Owners) -> None:
        worker = await turns.get(owners)
        order.append(owners)
        await asyncio.sleep(0)
        turns.add(worker)

    async with asyncio.TaskGroup() as group:
        for owners in requests:
            group.create_task(run(owners))
        await asyncio.sleep(0)
        turns.add("worker")
    return order


def test_addresses_take_turns() -> None:
    """Behind 50 requests of one address, with as many keys, another address waits for one."""
    flood = [("a", f"key {n}") for n in range(50)]
    assert asyncio.run(order_of([*flood, ("b", "key")])).index(("b", "key")) == 1


def test_the_keys_of_an_address_take_turns() -> None:
    """Behind 50 requests of one key, another key at the same address waits for one."""
    assert asyncio.run(order_of([*[("a", "key")] * 50, ("a", "other")])).index(("a", "other")) == 1


def test_a_share_during_a_flood() -> None:
    """During a flood of one address a tenant gets half of the workers' turns."""
    order = asyncio.run(order_of([*[("a", "key")] * 50, *[("b", "key")] * 10]))
    assert order[:20].count(("b", "key")) == 10


def test_one_owner_is_served_in_order() -> None:
    async def run() -> list[int]:
        turns: Turns[str] = Turns()
        order: list[int] = []

        async def wait(number: int) -> None:
            worker = await turns.get(("a", "key"))
            order.append(number)
            turns.add(worker)

        async with asyncio.TaskGroup() as group:
            for number in range(5):
                group.create_task(wait(number))
            await asyncio.sleep(0)
            turns.add("worker")
        return order

    assert asyncio.run(run()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("assigned", [False, True])
def test_no_worker_is_lost_by_a_wait_that_ends(*, assigned: bool) -> None:
    """If a wait is cancelled, also in the moment of its turn, the next request gets the worker."""

    async def run() -> str:
        turns: Turns[str] = Turns()
        impatient = asyncio.create_task(turns.get(("a", "key")))
        await asyncio.sleep(0)
        if assigned:
            turns.add("worker")
        impatient.cancel()
        if not assigned:
            turns.add("worker")
        await asyncio.gather(impatient, return_exceptions=True)
        return await turns.get(("b", "key"))

    assert asyncio.run(run()) == "worker"
