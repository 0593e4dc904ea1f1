"""The service that the tests of the contract use, one for each module."""

from collections.abc import Iterator

import pytest

from pillarbox.domain.accounts.account import Plan
from tests.contract.client import Api
from tests.contract.name_server import running_name_server
from tests.contract.service import Service, running_service


@pytest.fixture(scope="session")
def dns_server() -> Iterator[str]:
    """Run a real name server; yield its host:port."""
    with running_name_server() as address:
        yield address


@pytest.fixture(scope="module")
def service(dns_server: str) -> Iterator[Service]:
    with running_service(dns_server) as service:
        yield service


@pytest.fixture(scope="module")
def operator(service: Service) -> Api:
    return Api(session=service.operator())


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
    return service.preview()
