"""Message records of an account with several shards, beside those of before it had them."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pillarbox.adapters.dynamodb import keys, records
from pillarbox.adapters.dynamodb.history.message_log import DynamoMessageLog, read_change
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.records import account_item, message_item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.history.ports import UnreadableChange
from pillarbox.domain.accounts.account import SHARD_COUNTS
from pillarbox.domain.ids import new_id, new_token, shard_of
from pillarbox.domain.messages.message import EventKind, Message
from pillarbox.domain.timing import milliseconds
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, HASH, NOW
from tests.loops import all_pages

EVER = (0, 2**48)


def test_a_message_is_read_and_changed_in_its_shard(table: Table) -> None:
    """In each of the many, and records of all shards are put and read together."""
    stored = DynamoMessages(table)
    messages = [builders.message(message_id=new_id(NOW, shards)) for shards in (1, 2, 16) * 8]
    stored.commit_all(messages)
    by_id = {message.message_id: message for message in messages}
    assert stored.get_all(ACCOUNT, [*by_id]) == by_id
    for message_id, message in by_id.items():
        assert stored.peek(ACCOUNT, message_id) == message
        leased = stored.lease(ACCOUNT, message_id, HASH, "worker", NOW)
        assert isinstance(leased, Message)
        assert stored.save(leased.with_events([builders.event(EventKind.SENT)]))
        assert stored.get(ACCOUNT, message_id) != message


def test_an_account_without_shards_has_one(table: Table) -> None:
    """Also if it does not exist any more."""
    message = builders.message(message_id=new_id(NOW))
    DynamoMessages(table).commit(message)
    log = DynamoMessageLog(table)
    assert [*log.newest_first(ACCOUNT, *EVER)] == [message]
    table.put(account_item(builders.account()))
    assert [*log.newest_first(ACCOUNT, *EVER)] == [message]


def test_the_shard_is_in_the_key_and_zero_has_the_key_of_before(table: Table) -> None:
    plain = new_id(NOW)
    assert keys.message(ACCOUNT, plain)["pk"]["S"] == f"MSG#{ACCOUNT}"
    for shards in SHARD_COUNTS[1:]:
        identifier = new_id(NOW, shards)
        shard = shard_of(identifier)
        expected = f"MSG#{ACCOUNT}#{shard}" if shard else f"MSG#{ACCOUNT}"
        assert keys.message(ACCOUNT, identifier)["pk"]["S"] == expected
        message = builders.message(message_id=identifier)
        DynamoMessages(table).commit(message)
        image = message_item(message)
        assert keys.is_message(image)
        assert read_change({"dynamodb": {"NewImage": image}}) == message


@given(
    st.lists(st.tuples(st.integers(0, 200_000), st.sampled_from([1, 2, 8])), max_size=60),
    st.integers(0, 200_000),
    st.integers(0, 200_000),
)
@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_list_of_shards_equals_a_list_without(
    table: Table, created: list[tuple[int, int]], since: int, until: int
) -> None:
    """Records made for any number of shards are listed once, in order, and by time range."""
    account_id = new_token(12)
    table.put(account_item(builders.account(account_id, shards=8, sharded_from=NOW)))
    messages = [
        builders.message(account_id, new_id(NOW + timedelta(milliseconds=offset), shards))
        for offset, shards in created
    ]
    for start in range(0, len(messages), 100):
        DynamoMessages(table).commit_all(messages[start : start + 100])
    log, start_time = DynamoMessageLog(table), milliseconds(NOW)
    expected = sorted(messages, key=lambda message: message.message_id, reverse=True)
    assert [*log.newest_first(account_id, *EVER)] == expected
    assert [*log.newest_first(account_id, *EVER, shards=8)] == expected
    since, until = since + start_time, until + start_time
    within = [m for m in expected if since <= milliseconds(m.created_at) < until]
    assert [*log.newest_first(account_id, since, until)] == within
    assert sorted(ids(log.get_all(account_id, ids(messages)))) == sorted(ids(messages))


def test_more_records_than_a_page_are_merged(table: Table) -> None:
    """Shards with several pages each, and an empty one, are read to their end in order."""
    table.put(account_item(builders.account(shards=4, sharded_from=NOW)))
    messages: list[Message] = []
    while len(messages) < 400:
        identifier = new_id(NOW + timedelta(milliseconds=len(messages)), 4)
        if shard_of(identifier) != 2:
            messages.append(builders.message(message_id=identifier))
    for start in range(0, 400, 100):
        DynamoMessages(table).commit_all(messages[start : start + 100])
    listed = [*DynamoMessageLog(table).newest_first(ACCOUNT, *EVER)]
    assert listed == messages[::-1]
    assert set(Counter(shard_of(message.message_id) for message in listed)) == {0, 1, 3}


def ids(messages: Iterable[Message]) -> list[UUID]:
    return [message.message_id for message in messages]


def test_the_sweep_reads_the_pending_messages_of_every_shard(table: Table) -> None:
    account = builders.account(shards=4, sharded_from=NOW)
    table.put(records.account_item(account))
    ids = [new_id(NOW + timedelta(milliseconds=n), 4) for n in range(40)]
    for position, message_id in enumerate(ids):
        message = builders.message(message_id=message_id)
        if position % 2:
            message = message.with_events([builders.event(EventKind.SENT)])
        DynamoMessages(table).commit(message)
    log, since = DynamoMessageLog(table), milliseconds(NOW)
    found = all_pages(lambda cursor: log.pending(ACCOUNT, since, since + 1000, cursor))
    assert sorted(message.message_id for message in found) == ids[::2]


def test_an_unreadable_change_names_its_account() -> None:
    """The account in the key of a message in any shard is the one whose hour is marked."""
    for shards in SHARD_COUNTS:
        message = builders.message(message_id=new_id(NOW, shards))
        image = records.message_item(message)
        del image["hash"]
        with pytest.raises(UnreadableChange) as change:
            read_change({"dynamodb": {"NewImage": image}})
        assert change.value.account_id == ACCOUNT
