"""What every test of the use-cases starts from."""

import pytest

from tests.unit.admin.world import World


@pytest.fixture
def world() -> World:
    return World()
