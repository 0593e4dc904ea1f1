"""The implementations of the ports that these tests run on."""

import pytest

from pillarbox.adapters.dynamodb.table import Table
from tests.aws import Aws, aws
from tests.contract.conftest import dns_server
from tests.ports.implementations import Ports, adapters, fakes

__all__ = ["aws", "dns_server"]


@pytest.fixture(params=["fakes", "adapters"])
def ports(request: pytest.FixtureRequest) -> Ports:
    """Return the fakes, then the adapters."""
    return fakes() if request.param == "fakes" else adapters(request.getfixturevalue("aws"))


@pytest.fixture
def table(aws: Aws) -> Table:
    """Return the table, for tests of the adapters alone."""
    return Table(aws.table)
