"""The endpoints of webhooks in the table of credentials: contention and lost answers."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.dynamodb.webhooks.endpoints import (
    DynamoEndpointHealths,
    DynamoWebhookEndpoints,
)
from pillarbox.application.webhooks.ports import EndpointChanges
from pillarbox.domain.webhooks.endpoint import EndpointHealth
from tests.aws import Aws
from tests.fakes.builders import ACCOUNT, NOW, account, at
from tests.fakes.webhooks import endpoint


@pytest.fixture
def endpoints(aws: Aws) -> DynamoWebhookEndpoints:
    return DynamoWebhookEndpoints(Table(aws.credentials), Table(aws.table))


def test_parallel_requests_do_not_exceed_the_count(endpoints: DynamoWebhookEndpoints) -> None:
    endpoints.add(endpoint(), 1)
    assert endpoints.count_request(ACCOUNT, at(0), 10)
    with ThreadPoolExecutor(16) as pool:
        counted = list(pool.map(lambda _: endpoints.count_request(ACCOUNT, at(60), 10), range(16)))
    assert sum(counted) == 10


def test_no_endpoint_goes_without_the_mark(aws: Aws, endpoints: DynamoWebhookEndpoints) -> None:
    """Endpoints come and go at the same time; whenever one is left, its account is marked."""
    accounts = DynamoAccounts(Table(aws.table))
    accounts.add(account())

    def add_and_remove(number: int) -> None:
        new = [endpoint(created_at=at(10 * number + n)) for n in range(4)]
        for one in new:
            endpoints.add(one, 99)
            stored = accounts.get(ACCOUNT)
            assert stored is not None
            assert stored.has_webhooks, "it has this endpoint"
            endpoints.remove(ACCOUNT, one.endpoint_id)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(add_and_remove, range(4))) == [None] * 4
    assert endpoints.of_account(ACCOUNT) == []


def test_the_last_of_so_many_endpoints_takes_the_mark(
    aws: Aws, endpoints: DynamoWebhookEndpoints
) -> None:
    accounts = DynamoAccounts(Table(aws.table))
    stored = [endpoint(created_at=at(n)) for n in range(2)]
    accounts.add(account())
    assert [endpoints.add(one, 2) for one in (*stored, endpoint())] == [True, True, False]
    for one in stored:
        assert endpoints.remove(ACCOUNT, one.endpoint_id)
        (now,) = accounts.all()
        assert now.has_webhooks == (one is stored[0])
        assert not endpoints.remove(ACCOUNT, one.endpoint_id)


def test_nothing_creates_an_absent_endpoint(endpoints: DynamoWebhookEndpoints) -> None:
    absent = endpoint()
    key, secrets = (ACCOUNT, absent.endpoint_id), absent.secrets
    assert endpoints.change(*key, EndpointChanges(enabled=True)) is None
    assert not endpoints.replace_secrets(*key, secrets, secrets)
    assert not endpoints.begin_replay(*key, NOW, timedelta(minutes=1))
    assert endpoints.of_account(ACCOUNT) == []


def test_the_mark_creates_no_account(aws: Aws, endpoints: DynamoWebhookEndpoints) -> None:
    """An endpoint of an account that was just deleted leaves no record of an account."""
    accounts, stored = DynamoAccounts(Table(aws.table)), endpoint()
    assert endpoints.add(stored, 1)
    assert accounts.get(ACCOUNT) is None
    assert endpoints.remove(ACCOUNT, stored.endpoint_id)
    assert accounts.get(ACCOUNT) is None


def test_an_addition_whose_response_was_lost_succeeds(endpoints: DynamoWebhookEndpoints) -> None:
    stored = endpoint()
    assert endpoints.add(stored, 2)
    assert endpoints.add(stored, 2)
    assert endpoints.add(stored, 1)
    assert endpoints.of_account(ACCOUNT) == [stored]


def test_health_is_replaced_if_it_has_not_changed(aws: Aws) -> None:
    healths = DynamoEndpointHealths(Table(aws.table))
    healthy, failing = EndpointHealth(), EndpointHealth(failing_since=NOW, failures=1)
    opened = EndpointHealth(open_since=at(70), disabled_at=at(80), disabled_for="gone")
    assert healths.replace(ACCOUNT, "e", healthy, failing)
    assert not healths.replace(ACCOUNT, "e", healthy, opened)
    assert healths.replace(ACCOUNT, "e", failing, opened)
    assert healths.get(ACCOUNT, "e") == opened
    assert healths.get(ACCOUNT, "another") == healthy
