"""The world in which the use cases run."""

import pytest

from tests.fakes.world import World


@pytest.fixture
def world() -> World:
    """An account with keys, and fakes of everything outside."""
    return World()
