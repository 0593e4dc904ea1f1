"""The service that the tests of the contract use, one for each module."""

from collections.abc import Iterator

import pytest

from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key import OPERATOR_SCOPES, SCOPES, Preset
from pillarbox.domain.ids import new_token
from pillarbox.domain.sign_in.session import Role
from pillarbox.wiring import services
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
def user(service: Service, account: str) -> Api:
    """A client with the session of an author of `account`."""
    return Api(session=service.session(account, Role.AUTHOR, "ada@shop.example"))


@pytest.fixture(scope="module")
def key(service: Service) -> str:
    """A key of an operator's own account that has every scope."""
    own = service.account(Plan.ENTERPRISE)
    services().accounts.update(own, AccountChanges(operates=True))
    scopes = SCOPES | OPERATOR_SCOPES
    return services().api_keys.issue_live(own, "operator", Preset.CUSTOM, scopes).text


@pytest.fixture
def address(service: Service) -> Iterator[str]:
    """The address of a new user; codes that were requested are forgotten afterwards."""
    user = services().team.add_user(f"{new_token(8)}@shop.example")
    yield user.address
    service.codes()


@pytest.fixture
def preview(service: Service) -> Api:
    return service.preview()
