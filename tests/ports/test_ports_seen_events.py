"""Marks of events that could not be merged yet: `delivery.ports.SeenEvents`."""

from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoSeenEvents
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.delivery.ports import SeenEvent, TaggedMessage
from tests.aws import Aws
from tests.fakes.builders import ACCOUNT, at
from tests.ports.implementations import Ports

MESSAGES = [TaggedMessage(ACCOUNT, UUID(int=5), "0102-x"), TaggedMessage(ACCOUNT, UUID(int=7))]


def test_a_mark_belongs_to_one_message_of_one_account(ports: Ports) -> None:
    """A mark has the provider's id and the time of the receipt; other messages have none."""
    ports.seen_events.put_all(MESSAGES, at(1.5))
    assert ports.seen_events.find(ACCOUNT, UUID(int=5)) == SeenEvent("0102-x", at(1.5))
    assert ports.seen_events.find(ACCOUNT, UUID(int=7)) == SeenEvent(None, at(1.5))
    assert ports.seen_events.find(ACCOUNT, UUID(int=6)) is None
    assert ports.seen_events.find("acct00000002", UUID(int=5)) is None


def test_a_mark_may_be_put_again(ports: Ports) -> None:
    """A later event of the same message replaces the mark, also without a provider's id."""
    ports.seen_events.put_all(MESSAGES, at(1.5))
    ports.seen_events.put_all([TaggedMessage(ACCOUNT, UUID(int=5))], at(2))
    assert ports.seen_events.find(ACCOUNT, UUID(int=5)) == SeenEvent(None, at(2))


def test_a_mark_expires_after_two_days(aws: Aws) -> None:
    table = Table(aws.table)
    DynamoSeenEvents(table).put_all(MESSAGES, at(1.5))
    item = table.get(keys.seen_event(ACCOUNT, UUID(int=5)))
    assert item is not None
    assert item["expires_at"] == round(at(1.5).timestamp()) + 2 * 24 * 3600
