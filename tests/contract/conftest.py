"""The service that the tests of the contract use, one for each module."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from local.dns import DnsServer
from pillarbox.domain.account import Plan
from tests.contract.client import Api
from tests.contract.service import Service, running_service


@pytest.fixture(scope="session")
def dns_server() -> Iterator[str]:
    with running_name_server() as name_server:
        yield name_server


@contextmanager
def running_name_server() -> Iterator[str]:
    """Run a real name server on the loopback in its own thread; yield its host:port."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = DnsServer()
    host, port = asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
    try:
        yield f"{host}:{port}"
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


@pytest.fixture(scope="module")
def service(dns_server: str) -> Iterator[Service]:
    with running_service(dns_server) as service:
        yield service


@pytest.fixture
def account(service: Service) -> str:
    """The id of a new account on the Standard plan."""
    return service.account()


@pytest.fixture
def api(service: Service, account: str) -> Api:
    """A client with a live key of `account`."""
    return Api(service.key(account))


@pytest.fixture
def live(service: Service) -> Api:
    """A live key of a new account on the Standard plan."""
    return service.live()


@pytest.fixture
def free(service: Service) -> Api:
    """A live key of a new account on the free plan."""
    return service.live(Plan.FREE)


@pytest.fixture
def preview(service: Service) -> Api:
    """A preview key."""
    return service.preview()
