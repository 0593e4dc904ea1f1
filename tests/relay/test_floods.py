"""A short run of the floods, and bugs that they must notice."""

from collections.abc import Callable

import pytest

from relay.admission import ConnectionLimiter
from relay.limits import ServerLimits
from verification.attacks.relay_floods import Result, flooded, floods

ROUNDS = 12


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """Run every flood once."""
    return {name: flooded(name, flood, ROUNDS) for name, flood in floods().items()}


@pytest.mark.parametrize("name", floods())
def test_neighbours_keep_their_throughput(results: dict[str, Result], name: str) -> None:
    """In a flood, neighbours at the same and another address keep at least 90 %."""
    assert results["no flood"].least == 100
    assert results[name].least >= 90
    assert results[name].over_share == 0
    assert (results[name].bad_inputs > 0) == (name != "no flood")


def test_reads_for_forged_keys(results: dict[str, Result]) -> None:
    """A forged key costs two items at most: itself and its account."""
    assert sum(each.forged for each in results.values()) >= 60 * ROUNDS
    assert all(each.items <= 2 * each.forged for each in results.values())


def without_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one account hold all memory, and let nothing give way."""
    for share in ("memory_of_account", "memory_of_address"):
        monkeypatch.setattr(ServerLimits, share, property(lambda limits: limits.memory))
    monkeypatch.setattr("relay.memory.MemoryBudget._slower", lambda *_: [])


def without_making_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse new connections instead of ending those that do not log in."""
    monkeypatch.setattr(ConnectionLimiter, "_make_room", lambda *_: False)


def without_account_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one key have all connections."""
    every = property(lambda limits: limits.connections)
    monkeypatch.setattr(ServerLimits, "connections_of_account", every)


@pytest.mark.parametrize(
    ("bug", "name"),
    [
        (without_shares, "8 slow messages of one key"),
        (without_shares, "40 slow messages of four keys at two addresses"),
        (without_making_room, "240 connections without a login"),
        (without_account_limit, "connections of one key from 20 addresses"),
    ],
)
def test_floods_notice(
    bug: Callable[[pytest.MonkeyPatch], None], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a share or bound, its flood takes more than a tenth from a neighbour."""
    bug(monkeypatch)
    assert flooded(name, floods()[name], ROUNDS).least < 90
