"""Marks of events that could not be merged yet: `delivery.ports.SeenEvents`."""

from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.messages.heartbeat import DynamoSeenEvents
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.delivery.ports import TaggedMessage
from tests.aws import Aws
from tests.fakes.builders import ACCOUNT, at

MESSAGES = [TaggedMessage(ACCOUNT, UUID(int=5), "0102-x"), TaggedMessage(ACCOUNT, UUID(int=7))]


def test_a_mark_expires_after_two_days(aws: Aws) -> None:
    table = Table(aws.table)
    DynamoSeenEvents(table).put_all(MESSAGES, at(1.5))
    item = table.get(keys.seen_event(ACCOUNT, UUID(int=5)))
    assert item is not None
    assert item["expires_at"] == round(at(1.5).timestamp()) + 2 * 24 * 3600
