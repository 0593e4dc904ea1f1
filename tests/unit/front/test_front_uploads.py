"""Memory goes to the octets that arrive, in shares, and the slowest upload gives way."""

import asyncio
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from front import uploads
from front.uploads import Upload, Uploads
from pillarbox.domain.errors import ServiceError
from tests.fakes import virtual_time

SMALL = 256 * 1024

BODY_LIMIT = 16 * 1024 * 1024
MAX_REQUESTS = 256

if TYPE_CHECKING:
    from collections.abc import Mapping

MIB = 1024 * 1024
#: Seconds in which a body at the tests' rate is late.
SHORT = 0.05


class Client:
    """Sends a body in parts, when the test says so."""

    def __init__(self, budget: Uploads, key: str, address: str) -> None:
        self.budget, self.key, self.address = budget, key, address
        self.parts: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self.upload: Upload | None = None

    async def send(self, octets: int, *, more: bool = True) -> None:
        self.parts.put_nowait({"type": "http.request", "body": b"x" * octets, "more_body": more})
        await asyncio.sleep(0.001)

    async def outcome(self) -> str:
        """Return "held" if the whole body arrived, else the code of the error."""
        try:
            with self.budget.begin(self.key, self.address) as self.upload:
                await self.budget.read(self.upload, self.parts.get)
                return "held"
        except ServiceError as error:
            return error.code


@pytest.fixture(autouse=True)
def no_upload_is_young(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_YOUNG", 0.0)
    monkeypatch.setattr(uploads, "_PACE_TIME", 0.01)


@pytest.mark.parametrize("alike", ["key", "address"])
def test_a_key_and_an_address_have_a_quarter(alike: str) -> None:
    """Large bodies of one key, or from one address, get 429 beyond a quarter of the memory."""

    async def run() -> list[str]:
        budget = Uploads(32 * MIB)
        first, second, other = (
            Client(
                budget,
                "one" if alike == "key" and n < 2 else f"key {n}",
                "192.0.2.1" if alike == "address" and n < 2 else f"192.0.2.{n + 10}",
            )
            for n in range(3)
        )
        tasks = [asyncio.create_task(client.outcome()) for client in (first, second, other)]
        await first.send(5 * MIB)
        await second.send(5 * MIB)
        await other.send(5 * MIB)
        for client in (first, other):
            await client.send(1, more=False)
        return await asyncio.gather(*tasks)

    assert virtual_time.run(run()) == ["held", "rate_limit_exceeded", "held"]


def test_small_bodies_pass_when_memory_is_used_up() -> None:
    """A small body is accepted while large ones fill the memory, also for the same key."""

    async def run() -> tuple[list[str], str]:
        budget = Uploads(4 * MIB)
        large = [Client(budget, f"key {n}", f"192.0.2.{n}") for n in range(4)]
        tasks = [asyncio.create_task(client.outcome()) for client in large]
        for client in large:
            await client.send(MIB)
        small = Client(budget, "key 0", "192.0.2.0")
        task = asyncio.create_task(small.outcome())
        await small.send(SMALL, more=False)
        outcome = await task
        for client in large:
            await client.send(0, more=False)
        return await asyncio.gather(*tasks), outcome

    assert virtual_time.run(run()) == (["held"] * 4, "held")


def test_the_slowest_upload_gives_way() -> None:
    """When memory is short the upload that stalls is dropped, not the ones that arrive."""

    async def run() -> list[str]:
        budget = Uploads(4 * MIB)
        stalled, *fast = (Client(budget, f"key {n}", f"192.0.2.{n}") for n in range(5))
        tasks = [asyncio.create_task(client.outcome()) for client in (stalled, *fast)]
        await stalled.send(MIB)
        await asyncio.sleep(0.05)
        for _ in range(4):
            for client in fast:
                await client.send(MIB // 4)
        for client in fast:
            await client.send(0, more=False)
        return await asyncio.gather(*tasks)

    assert virtual_time.run(run()) == ["service_unavailable", "held", "held", "held", "held"]


def test_a_complete_body_does_not_give_way() -> None:
    """A body that waits for a worker is not dropped; the new one gets 503."""

    async def run() -> str:
        budget = Uploads(4 * MIB)
        with ExitStack() as stack:
            for n in range(4):
                upload = stack.enter_context(budget.begin(f"key {n}", f"192.0.2.{n}"))
                upload.size, upload.arriving = MIB, False
            new = Client(budget, "new", "192.0.2.9")
            task = asyncio.create_task(new.outcome())
            await new.send(MIB)
            return await task

    assert virtual_time.run(run()) == "service_unavailable"


@pytest.mark.parametrize(("rate", "outcome"), [(2.0, "held"), (0.2, "service_unavailable")])
def test_a_body_has_a_minimum_rate(
    monkeypatch: pytest.MonkeyPatch, rate: float, outcome: str
) -> None:
    """A body at twice the rate arrives; at a fifth of it, it is refused after the patience."""
    monkeypatch.setattr(uploads, "_PATIENCE", 0.5)
    monkeypatch.setattr(uploads, "MIN_RATE", 1000)

    async def run() -> str:
        client = Client(Uploads(4 * MIB), "key", "192.0.2.1")
        task = asyncio.create_task(client.outcome())
        for _ in range(40):
            await client.send(int(rate * 30))
            await asyncio.sleep(0.03)
        await client.send(0, more=False)
        return await task

    assert virtual_time.run(run()) == outcome


def test_a_fast_start_does_not_excuse_a_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that stops is refused after the patience, however fast it came before."""
    monkeypatch.setattr(uploads, "_PATIENCE", SHORT)

    async def run() -> str:
        client = Client(Uploads(64 * MIB), "key", "192.0.2.1")
        task = asyncio.create_task(client.outcome())
        await client.send(15 * MIB)
        return await task

    assert virtual_time.run(run()) == "service_unavailable"


def test_requests_without_octets_give_way() -> None:
    """When the number of requests is used up, one whose body does not arrive is dropped."""

    async def run() -> tuple[str, int]:
        budget = Uploads(4 * MIB)
        idle = [
            Client(budget, f"key {n}", f"192.0.{n // 250}.{n % 250}") for n in range(MAX_REQUESTS)
        ]
        tasks = [asyncio.create_task(client.outcome()) for client in idle]
        await asyncio.sleep(0.01)
        new = Client(budget, "new", "198.51.100.1")
        task = asyncio.create_task(new.outcome())
        await new.send(100, more=False)
        outcome = await task
        for client in idle:
            await client.send(0, more=False)
        return outcome, (await asyncio.gather(*tasks)).count("service_unavailable")

    assert virtual_time.run(run()) == ("held", 1)


def test_a_key_has_a_quarter_of_the_requests() -> None:
    async def run() -> None:
        budget = Uploads(4 * MIB)
        with ExitStack() as stack:
            for n in range(MAX_REQUESTS // 4):
                stack.enter_context(budget.begin("key", f"192.0.2.{n}"))
            with pytest.raises(ServiceError, match="Too many"), budget.begin("key", "192.0.2.99"):
                pytest.fail("it was accepted")
            stack.enter_context(budget.begin("another", "192.0.2.99"))

    virtual_time.run(run())


def test_a_body_over_the_limit_keeps_no_memory() -> None:
    async def run() -> tuple[int, str]:
        client = Client(Uploads(64 * MIB), "key", "192.0.2.1")
        task = asyncio.create_task(client.outcome())
        await client.send(BODY_LIMIT)
        await client.send(1)
        assert client.upload
        reserved = client.upload.reserved
        await client.send(1, more=False)
        return reserved, await task

    assert virtual_time.run(run()) == (0, "request_too_large")
