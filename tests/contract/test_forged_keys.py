"""What strangers and refused requests cost: a short form of verification/attacks/anonymous.py."""

import json

import pytest

from tests.contract.operations import OPERATIONS
from tests.contract.service import Service
from verification.attacks.anonymous import MOST_READS, QUERIES_OF_KEY, attack, counting
from verification.attacks.tally import Tally


@pytest.fixture(scope="module")
def tally(service: Service) -> Tally:
    """Return the counts of all attempts."""
    return attack(service, keys=4)


def test_no_attempt_costs_more_than_it_may(tally: Tally) -> None:
    """Over every route and SMTP, reads and DNS queries stay at their limits.

    A forged key of each type reads itself and its account, whether the account exists or not.
    """
    assert tally["bad inputs tried"] > 4 * len(OPERATIONS)
    assert tally["reads at most"] == MOST_READS
    assert not tally.failed, tally.findings


def test_the_refusals_of_one_key_are_limited(tally: Tally) -> None:
    """A preview key makes 20 queries a minute for messages that are refused."""
    assert tally[QUERIES_OF_KEY] == 20


def test_the_attack_notices_reads_that_grow(service: Service) -> None:
    """The count sees each item of a BatchGetItem: a batch of a valid key reads its recipients."""
    message = {"to": [f"a{n}@customer.example" for n in range(50)], "html": "x", "subject": "x"}
    with counting() as cost:
        response = service.live().raw("POST", "/emails/batch", json.dumps({"messages": [message]}))
    assert response.status == 200
    assert sum(cost.reads) >= 50 + MOST_READS
    assert cost.queries == ["customer.example"]
