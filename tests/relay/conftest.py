"""A relay server on a loopback port, and tests that are coroutines."""

import asyncio
import inspect
from collections.abc import Iterator

import pytest

from tests.relay.running_relay import PATIENCE, Client, RunningRelay, serve


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    test = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    asyncio.run(asyncio.wait_for(test, PATIENCE))
    return True


@pytest.fixture
def relay() -> Iterator[RunningRelay]:
    """Run a server with the default limits."""
    with serve() as running:
        yield running


@pytest.fixture
def client(relay: RunningRelay) -> Iterator[Client]:
    with relay.connect_authenticated() as connected:
        yield connected
