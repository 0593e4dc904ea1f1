"""The relay's server on a loopback port, over a service that the tests look into."""

import pytest

from tests.relay.served import Served, serve
from collections.abc import Iterator


@pytest.fixture
def served() -> Iterator[Served]:
    """A server with small limits, so that a test can reach them."""
    with serve() as running:
        yield running
