"""The endpoints of webhooks in the table of credentials: contention and lost answers."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.dynamodb.webhooks.endpoints import DynamoWebhookEndpoints
from pillarbox.application.webhooks.ports import EndpointChanges
from pillarbox.domain.webhooks.endpoint import WebhookSecret
from tests.aws import Aws
from tests.fakes.builders import ACCOUNT, NOW, account, at
from tests.fakes.webhooks import endpoint

MAX_ENDPOINTS = 10

OTHER_ACCOUNT = "acct00000002"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def endpoints(aws: Aws) -> DynamoWebhookEndpoints:
    return DynamoWebhookEndpoints(Table(aws.credentials), Table(aws.table))


def test_nothing_creates_an_absent_endpoint(endpoints: DynamoWebhookEndpoints) -> None:
    stored, missing = endpoint(OTHER_ACCOUNT), EndpointChanges(enabled=True)
    endpoints.add(stored, 1)
    secrets = stored.secrets
    assert endpoints.change(ACCOUNT, stored.endpoint_id, missing) is None
    assert endpoints.change(ACCOUNT, stored.endpoint_id, EndpointChanges()) is None
    assert not endpoints.replace_secrets(ACCOUNT, stored.endpoint_id, secrets, secrets)
    assert not endpoints.begin_replay(ACCOUNT, stored.endpoint_id, NOW, MINUTE)
    assert not endpoints.remove(ACCOUNT, stored.endpoint_id)
    assert endpoints.of_account(ACCOUNT) == []
    assert endpoints.of_account(OTHER_ACCOUNT) == [stored]


def test_of_two_rotations_at_the_same_time_one_wins(endpoints: DynamoWebhookEndpoints) -> None:
    """Secrets are replaced only if they have not changed since they were read."""
    stored = endpoint()
    endpoints.add(stored, 1)
    first, second = (
        (WebhookSecret(text=text, created_at=at(5)), replace(stored.secrets[0], expires_at=at(9)))
        for text in ("whsec_MQ==", "whsec_Mg==")
    )
    assert endpoints.replace_secrets(ACCOUNT, stored.endpoint_id, stored.secrets, first)
    assert not endpoints.replace_secrets(ACCOUNT, stored.endpoint_id, stored.secrets, second)
    assert endpoints.get(ACCOUNT, stored.endpoint_id) == replace(stored, secrets=first)


def test_parallel_requests_do_not_exceed_the_count(endpoints: DynamoWebhookEndpoints) -> None:
    """Of 16 requests at the same time in a new minute exactly ten are counted."""
    endpoints.add(endpoint(), 1)
    assert endpoints.count_request(ACCOUNT, at(0), 10)
    with ThreadPoolExecutor(16) as pool:
        counted = list(pool.map(lambda _: endpoints.count_request(ACCOUNT, at(60), 10), range(16)))
    assert sum(counted) == 10


def test_an_account_is_marked_while_it_has_an_endpoint(
    aws: Aws, endpoints: DynamoWebhookEndpoints
) -> None:
    """The first endpoint sets the mark and the last one removes it; another account has its own."""
    accounts = DynamoAccounts(Table(aws.table))
    for account_id in (ACCOUNT, OTHER_ACCOUNT):
        accounts.add(replace(account(), account_id=account_id))

    def marked() -> list[bool]:
        return [each.has_webhooks for each in accounts.all()]

    stored = [endpoint(created_at=at(n)) for n in range(2)]
    seen = [marked()]
    for one in stored:
        assert endpoints.add(one, 2)
        seen.append(marked())
    assert not endpoints.add(endpoint(), 2)
    for one in stored:
        assert endpoints.remove(ACCOUNT, one.endpoint_id)
        seen.append(marked())
    assert not endpoints.remove(ACCOUNT, stored[0].endpoint_id)
    assert seen == [[False, False], [True, False], [True, False], [True, False], [False, False]]
    assert endpoints.add(stored[0], 1)
    assert marked() == [True, False]


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


def test_the_mark_creates_no_account(aws: Aws, endpoints: DynamoWebhookEndpoints) -> None:
    """An endpoint of an account that was just deleted leaves no record of an account."""
    accounts, stored = DynamoAccounts(Table(aws.table)), endpoint()
    assert endpoints.add(stored, 1)
    assert accounts.get(ACCOUNT) is None
    assert endpoints.remove(ACCOUNT, stored.endpoint_id)
    assert accounts.get(ACCOUNT) is None


def test_parallel_additions_do_not_exceed_the_maximum(endpoints: DynamoWebhookEndpoints) -> None:
    """Of 14 additions at the same time exactly ten succeed, and ten endpoints exist."""
    new = [endpoint(created_at=at(n)) for n in range(14)]
    with ThreadPoolExecutor(len(new)) as pool:
        added = list(pool.map(lambda one: endpoints.add(one, MAX_ENDPOINTS), new))
    assert sum(added) == MAX_ENDPOINTS
    assert endpoints.of_account(ACCOUNT) == [
        one for one, was_added in zip(new, added, strict=True) if was_added
    ]


def test_an_addition_whose_response_was_lost_succeeds(endpoints: DynamoWebhookEndpoints) -> None:
    """A repetition of an addition finds the endpoint, and changes nothing."""
    stored = endpoint()
    assert endpoints.add(stored, 2)
    assert endpoints.add(stored, 2)
    assert endpoints.add(stored, 1)
    assert endpoints.of_account(ACCOUNT) == [stored]
