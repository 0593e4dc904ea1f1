"""What is known about sender domains, on the emulated table."""

import pytest

from pillarbox.adapters.dynamodb.accounts.account_changes import DynamoSenderDomains
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.accounts.sender_domain import DomainState, SenderDomain
from tests.aws import Aws
from tests.fakes.builders import ACCOUNT, NOW, at

PENDING, VERIFIED = DomainState.PENDING, DomainState.VERIFIED


@pytest.fixture
def records(aws: Aws) -> DynamoSenderDomains:
    return DynamoSenderDomains(Table(aws.table))


def test_of_two_changes_at_the_same_time_one_is_stored(records: DynamoSenderDomains) -> None:
    """A record is replaced only while it is as it was read; a repeated write is no conflict."""
    old, new = SenderDomain("a.example", PENDING), SenderDomain("a.example", VERIFIED, NOW)
    later = SenderDomain("a.example", VERIFIED, at(1))
    assert records.replace(ACCOUNT, None, old)
    assert not records.replace(ACCOUNT, None, new)
    assert records.replace(ACCOUNT, old, new)
    assert records.replace(ACCOUNT, old, new)
    assert not records.replace(ACCOUNT, old, later)
    assert [*records.of_account(ACCOUNT)] == [new]
