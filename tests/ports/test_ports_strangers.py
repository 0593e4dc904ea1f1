"""Counts of mail to strangers, and counts with a limit."""

from datetime import date, timedelta
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.sign_in.codes import DynamoSignInCounts
from pillarbox.adapters.dynamodb.sign_in.strangers import DynamoStrangerMail
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.sign_in.strangers import StrangerDay
from tests.aws import Aws
from tests.fakes.builders import NOW, at

FIRST, SECOND = date(2026, 1, 1), date(2026, 1, 2)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def mail(aws: Aws) -> DynamoStrangerMail:
    return DynamoStrangerMail(Table(aws.table))


@pytest.fixture
def counts(aws: Aws) -> DynamoSignInCounts:
    return DynamoSignInCounts(Table(aws.credentials))


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


def test_a_full_window_is_told_without_a_count(counts: DynamoSignInCounts) -> None:
    """A window is full at its limit, whoever asks and how often; the next one is not."""
    assert not counts.is_full("a", MINUTE, 2, NOW)
    assert [counts.count("a", MINUTE, 2, NOW) for _ in range(3)] == [True, True, False]
    assert counts.is_full("a", MINUTE, 2, NOW)
    assert not counts.is_full("a", MINUTE, 3, NOW)
    assert not counts.is_full("a", MINUTE, 2, at(60))
    assert not counts.is_full("b", MINUTE, 2, NOW)
