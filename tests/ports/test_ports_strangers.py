"""Counts of mail to strangers."""

from datetime import date, timedelta
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoStrangerMail
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.sign_in.strangers import StrangerDay
from tests.aws import Aws

FIRST, SECOND = date(2026, 1, 1), date(2026, 1, 2)


@pytest.fixture
def mail(aws: Aws) -> DynamoStrangerMail:
    return DynamoStrangerMail(Table(aws.table))


def test_days_count_alone_and_a_bounce_once(mail: DynamoStrangerMail) -> None:
    """Days come from the oldest on; a bounce that is reported twice counts once."""
    assert mail.since("new", FIRST) == []
    for day in (SECOND, FIRST, SECOND):
        mail.add_sent("new", day)
    for number in (1, 1, 2):
        assert mail.add_bounced("new", SECOND, UUID(int=number)) == number
    mail.add_bounced("new/a", FIRST, UUID(int=9))
    mail.set_sent("newer", FIRST, 7)
    mail.set_sent("newer", FIRST, 8)
    assert mail.since("newer", FIRST) == [StrangerDay(FIRST, 8, 0)]
    assert mail.since("new", FIRST) == [StrangerDay(FIRST, 1, 0), StrangerDay(SECOND, 2, 2)]
    assert mail.since("new", SECOND) == [StrangerDay(SECOND, 2, 2)]
    assert mail.since("new", SECOND + timedelta(days=1)) == []


def test_a_bounce_without_a_count_is_kept(mail: DynamoStrangerMail) -> None:
    mail.add_bounced("new", FIRST, UUID(int=1))
    assert mail.since("new", FIRST) == [StrangerDay(FIRST, 0, 1)]


def test_the_day_expires(aws: Aws) -> None:
    table = Table(aws.table)
    DynamoStrangerMail(table).add_sent("new", FIRST)
    item = table.get(keys.stranger_day("new#2026-01-01"))
    assert item is not None
    assert item["expires_at"] == 1_767_225_600 + 7 * 24 * 3_600
