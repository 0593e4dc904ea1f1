"""The endpoints of webhooks: the fake, and the adapter on the table of credentials."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.dynamodb.webhooks.endpoints import DynamoWebhookEndpoints
from pillarbox.application.webhooks.ports import EndpointChanges, WebhookEndpoints
from pillarbox.domain.webhooks.endpoint import WebhookSecret
from tests.aws import Aws
from tests.fakes.builders import ACCOUNT, NOW, account, at
from tests.fakes.webhooks import FakeWebhookEndpoints, endpoint

MAX_ENDPOINTS = 10

OTHER_ACCOUNT = "acct00000002"
MINUTE = timedelta(minutes=1)


def _adapter(aws: Aws) -> DynamoWebhookEndpoints:
    return DynamoWebhookEndpoints(Table(aws.credentials), Table(aws.table))


@pytest.fixture(params=["fake", "adapter"])
def endpoints(request: pytest.FixtureRequest) -> WebhookEndpoints:
    """Return the fake, then the adapter."""
    if request.param == "fake":
        return FakeWebhookEndpoints()
    return _adapter(request.getfixturevalue("aws"))


def test_an_endpoint_is_read_as_it_was_added(endpoints: WebhookEndpoints) -> None:
    """Every field is read again; another account or another id has no such endpoint."""
    old = WebhookSecret(text="whsec_b2xk", created_at=NOW, expires_at=at(60))
    stored = endpoint(
        types=frozenset({"email.bounced", "email.failed"}),
        secrets=(WebhookSecret(text="whsec_bmV3", created_at=at(1)), old),
        enabled=False,
    )
    assert endpoints.add(stored, 1)
    assert endpoints.get(ACCOUNT, stored.endpoint_id) == stored
    assert endpoints.get(OTHER_ACCOUNT, stored.endpoint_id) is None
    assert endpoints.get(ACCOUNT, endpoint().endpoint_id) is None


def test_an_endpoint_in_aws_keeps_its_role(endpoints: WebhookEndpoints) -> None:
    """It is read as it was added, with a role and without secrets; the role alone can change."""
    stored = endpoint(url="s3://shop-events/", role_arn="arn:aws:iam::1:role/a", secrets=())
    assert endpoints.add(stored, 1)
    assert endpoints.get(ACCOUNT, stored.endpoint_id) == stored
    changed = endpoints.change(
        ACCOUNT, stored.endpoint_id, EndpointChanges(role_arn="arn:aws:iam::1:role/b")
    )
    assert changed == replace(stored, role_arn="arn:aws:iam::1:role/b")


def test_an_account_has_at_most_so_many(endpoints: WebhookEndpoints) -> None:
    """One more is refused and not stored; the removal of one makes room again."""
    stored = [endpoint(created_at=at(n)) for n in range(3)]
    assert [endpoints.add(one, 2) for one in stored] == [True, True, False]
    assert endpoints.of_account(ACCOUNT) == stored[:2]
    assert endpoints.add(endpoint(OTHER_ACCOUNT), 2)
    assert endpoints.remove(ACCOUNT, stored[0].endpoint_id)
    assert endpoints.add(stored[2], 2)
    assert endpoints.of_account(ACCOUNT) == stored[1:]


def test_the_oldest_endpoint_is_listed_first(endpoints: WebhookEndpoints) -> None:
    """The list is in the order of creation, and has no endpoint of another account."""
    stored = [endpoint(created_at=at(n)) for n in range(3)]
    for one in (stored[2], stored[0], endpoint(OTHER_ACCOUNT), stored[1]):
        endpoints.add(one, 10)
    assert endpoints.of_account(ACCOUNT) == stored
    assert endpoints.of_account("acct00000003") == []


def test_a_change_writes_only_what_it_names(endpoints: WebhookEndpoints) -> None:
    """The other fields keep their values; a change of nothing returns the endpoint."""
    stored = endpoint()
    endpoints.add(stored, 1)
    changed = endpoints.change(ACCOUNT, stored.endpoint_id, EndpointChanges(enabled=False))
    assert changed == replace(stored, enabled=False)
    url, types = "https://a.example/", frozenset({"email.sent"})
    more = EndpointChanges(url=url, types=types)
    both = replace(stored, enabled=False, url=url, types=types)
    assert endpoints.change(ACCOUNT, stored.endpoint_id, more) == both
    assert endpoints.change(ACCOUNT, stored.endpoint_id, EndpointChanges()) == both
    assert endpoints.get(ACCOUNT, stored.endpoint_id) == both


def test_nothing_creates_an_absent_endpoint(endpoints: WebhookEndpoints) -> None:
    """Changes of an endpoint that does not exist, or is another account's, store nothing."""
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


def test_of_two_rotations_at_the_same_time_one_wins(endpoints: WebhookEndpoints) -> None:
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


def test_replays_by_time_have_a_pause_between(endpoints: WebhookEndpoints) -> None:
    """Within the pause a second replay is refused; a refused one does not extend the pause."""
    stored = endpoint()
    endpoints.add(stored, 1)
    begun = [
        endpoints.begin_replay(ACCOUNT, stored.endpoint_id, at(seconds), MINUTE)
        for seconds in (0, 1, 59, 60, 61)
    ]
    assert begun == [True, False, False, True, False]
    assert endpoints.get(ACCOUNT, stored.endpoint_id) == stored


def test_requests_of_an_account_are_counted_by_the_minute(endpoints: WebhookEndpoints) -> None:
    """The count ends with the minute, whichever endpoint exists; each account has its own."""
    stored = endpoint()
    endpoints.add(stored, 2)
    endpoints.add(endpoint(OTHER_ACCOUNT), 2)
    counted = [endpoints.count_request(ACCOUNT, at(second), 2) for second in (0, 1, 33, 34, 93)]
    assert counted == [True, True, False, True, True]
    assert endpoints.remove(ACCOUNT, stored.endpoint_id)
    another = endpoint(created_at=at(1))
    endpoints.add(another, 2)
    assert not endpoints.count_request(ACCOUNT, at(93), 2)
    assert not endpoints.count_request(ACCOUNT, at(33), 2), "a clock that is behind"
    assert endpoints.count_request(OTHER_ACCOUNT, at(93), 2)
    assert endpoints.of_account(ACCOUNT) == [another]


def test_parallel_requests_do_not_exceed_the_count(aws: Aws) -> None:
    """Of 16 requests at the same time in a new minute exactly ten are counted."""
    endpoints = _adapter(aws)
    endpoints.add(endpoint(), 1)
    assert endpoints.count_request(ACCOUNT, at(0), 10)
    with ThreadPoolExecutor(16) as pool:
        counted = list(pool.map(lambda _: endpoints.count_request(ACCOUNT, at(60), 10), range(16)))
    assert sum(counted) == 10


def test_an_account_is_marked_while_it_has_an_endpoint(aws: Aws) -> None:
    """The first endpoint sets the mark and the last one removes it; another account has its own."""
    accounts, endpoints = DynamoAccounts(Table(aws.table)), _adapter(aws)
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


def test_no_endpoint_goes_without_the_mark(aws: Aws) -> None:
    """Endpoints come and go at the same time; whenever one is left, its account is marked."""
    accounts, endpoints = DynamoAccounts(Table(aws.table)), _adapter(aws)
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


def test_the_mark_creates_no_account(aws: Aws) -> None:
    """An endpoint of an account that was just deleted leaves no record of an account."""
    accounts, endpoints, stored = DynamoAccounts(Table(aws.table)), _adapter(aws), endpoint()
    assert endpoints.add(stored, 1)
    assert accounts.get(ACCOUNT) is None
    assert endpoints.remove(ACCOUNT, stored.endpoint_id)
    assert accounts.get(ACCOUNT) is None


def test_parallel_additions_do_not_exceed_the_maximum(aws: Aws) -> None:
    """Of 14 additions at the same time exactly ten succeed, and ten endpoints exist."""
    endpoints = _adapter(aws)
    new = [endpoint(created_at=at(n)) for n in range(14)]
    with ThreadPoolExecutor(len(new)) as pool:
        added = list(pool.map(lambda one: endpoints.add(one, MAX_ENDPOINTS), new))
    assert sum(added) == MAX_ENDPOINTS
    assert endpoints.of_account(ACCOUNT) == [
        one for one, was_added in zip(new, added, strict=True) if was_added
    ]


def test_an_addition_whose_response_was_lost_succeeds(aws: Aws) -> None:
    """A repetition of an addition finds the endpoint, and changes nothing."""
    endpoints, stored = _adapter(aws), endpoint()
    assert endpoints.add(stored, 2)
    assert endpoints.add(stored, 2)
    assert endpoints.add(stored, 1)
    assert endpoints.of_account(ACCOUNT) == [stored]
