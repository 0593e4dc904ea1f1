"""Tombstones on DynamoDB: they stand under ids that must stay free, and no reader shows them."""

from datetime import timedelta
from typing import Any

from admin.aws.table_copy import read_row
from admin.use_cases.restore import Choice
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.history.message_log import (
    DynamoMessageLog,
    count_changes,
    read_change,
    read_search_change,
)
from pillarbox.adapters.dynamodb.messages.claims import WINDOW
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.records import tombstone_item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.mail import CHANGE_TIME
from pillarbox.domain.messages.message import STALL_TIME
from pillarbox.domain.timing import CLOCK_MARGIN
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, NOW

EVER = (0, 2**48)
TOMBSTONE = tombstone_item(ACCOUNT, new_id(NOW), NOW + timedelta(hours=48))


def test_a_tombstone_outlives_its_claim_and_every_acceptor(table: Table) -> None:
    """TTL deletes it after the last moment at which a claim can name it, or somebody commits."""
    message_id = new_id(NOW)
    DynamoMessages(table).withdraw(ACCOUNT, [message_id], NOW)
    item = table.get(keys.message(ACCOUNT, message_id))
    assert item is not None
    lives = timedelta(seconds=item["expires_at"] - NOW.timestamp())
    assert lives >= STALL_TIME > WINDOW + CHANGE_TIME + 2 * CLOCK_MARGIN


def test_no_list_shows_a_tombstone(table: Table) -> None:
    """A list, the sweep and a look-up by ids return the messages around it."""
    messages, log = DynamoMessages(table), DynamoMessageLog(table)
    ids = [new_id(NOW + timedelta(milliseconds=n)) for n in range(5)]
    accepted = [builders.message(message_id=ids[n]) for n in (1, 3)]
    messages.commit_all(accepted)
    messages.withdraw(ACCOUNT, ids, NOW)
    assert [*log.newest_first(ACCOUNT, *EVER)] == accepted[::-1]
    assert {*log.get_all(ACCOUNT, ids)} == {*accepted}
    assert [*log.in_accounts([ACCOUNT], ids[0])] == []
    assert log.pending(ACCOUNT, *EVER, None).items == accepted
    assert len([*table.query(keys.messages_from(ACCOUNT, 0, 0))]) == 5


def test_the_stream_of_the_table_reports_no_tombstone() -> None:
    """Neither its put nor its deletion by TTL is a change of a message."""
    images: list[dict[str, Any]] = [{"NewImage": TOMBSTONE}, {"OldImage": TOMBSTONE}]
    for image in images:
        record = {"dynamodb": image | {"Keys": {name: TOMBSTONE[name] for name in ("pk", "sk")}}}
        assert read_change(record) is None
        assert read_search_change(record, None) == (None, None)
        assert count_changes([record]) == {}


def test_a_tombstone_is_not_restored() -> None:
    row = read_row(TOMBSTONE)
    later = Choice(accounts={ACCOUNT}, messages=True, now=NOW + timedelta(hours=47, minutes=59))
    assert not later.wants(row)
    left_out = later.left_out(row)
    assert left_out is not None
    assert left_out.name == "tombstones"
