"""The system that is tried, on an engine of its own."""

from collections.abc import Iterator

import pytest

from tests.faults.engine import running
from tests.faults.system import System


# No longer than it is used: it puts the whole process on the engine.
@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    with running(tmp_path_factory.mktemp("engine")) as system:
        yield system
