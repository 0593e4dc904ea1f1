"""What strangers and refused requests cost: a short form of verification/attacks/anonymous.py."""

import json

import pytest

from pillarbox.domain.accounts.key import KeyType, new_key_text
from tests.contract.client import Api
from tests.contract.operations import OPERATIONS, Operation
from tests.contract.service import Service
from verification.attacks.anonymous import MOST_READS, Counts, attack, counting, is_broken

_IDS = dict.fromkeys(
    ("message_id", "id", "endpoint_id", "delivery_id"), "0197a1b2-0000-7000-8000-000000000001"
)


@pytest.fixture(scope="module")
def counts(service: Service) -> Counts:
    """Return the counts of all attempts."""
    return attack(service, keys=4)


@pytest.mark.parametrize("key_type", KeyType)
@pytest.mark.parametrize("one", OPERATIONS, ids=lambda one: one.id)
def test_a_forged_key_reads_two_items_on_every_route(
    service: Service, one: Operation, key_type: KeyType
) -> None:
    """Such a key reads itself and its account, whether the account exists or not."""
    for account_id in (service.account(), "acct00000009"):
        key = new_key_text(account_id, key_type)
        with counting() as cost:
            assert one.request(Api(key), _IDS).code == "invalid_api_key"
        assert sum(cost.reads) == MOST_READS
        assert (cost.writes, cost.queries) == ([], [])


def test_no_attempt_costs_more_than_it_may(counts: Counts) -> None:
    """Over every route and SMTP, reads and DNS queries stay at their limits."""
    assert counts.tried > 100
    assert not is_broken(counts), counts


def test_the_refusals_of_one_key_are_limited(counts: Counts) -> None:
    """A preview key makes 20 queries a minute for messages that are refused."""
    assert counts.key_queries == 20


def test_the_attack_notices_reads_that_grow(service: Service) -> None:
    """The count sees each item of a BatchGetItem: a batch of a valid key reads its recipients."""
    message = {"to": [f"a{n}@customer.example" for n in range(50)], "html": "x", "subject": "x"}
    with counting() as cost:
        response = service.live().raw("POST", "/emails/batch", json.dumps({"messages": [message]}))
    assert response.status == 200
    assert sum(cost.reads) >= 50 + MOST_READS
    assert cost.queries == ["customer.example"]
