"""The world in which the use cases run."""

import pytest

from pillarbox.adapters import aws
from tests.fakes.memory_tables import InTurn
from tests.fakes.world import World


@pytest.fixture(autouse=True)
def calls_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws, "ThreadPoolExecutor", InTurn)


@pytest.fixture
def world() -> World:
    """An account with keys, the stores, and fakes of everything outside."""
    return World()
