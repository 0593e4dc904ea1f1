"""A relay server on a loopback port, with a service that the tests can inspect."""

from collections.abc import Iterator

import pytest

from tests.relay.running_relay import RunningRelay, serve


@pytest.fixture
def relay() -> Iterator[RunningRelay]:
    """Run a server with the default limits."""
    with serve() as running:
        yield running
