"""The relay's server on a loopback port, over a service that the tests look into."""

from collections.abc import Iterator

import pytest

from tests.relay.running_relay import RunningRelay, serve


@pytest.fixture
def relay() -> Iterator[RunningRelay]:
    """A server with small limits, so that a test can reach them."""
    with serve() as running:
        yield running
