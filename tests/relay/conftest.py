"""The relay's server on a loopback port, over a service that the tests look into."""

from collections.abc import Iterator

import pytest

from tests.relay.served import Served, serve


@pytest.fixture
def served() -> Iterator[Served]:
    """A server with small limits, so that a test can reach them."""
    with serve() as running:
        yield running
