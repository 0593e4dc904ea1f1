"""What the sweep reads and queues in AWS: pending records, its tasks, and rebuild marks."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.history import message_log
from pillarbox.adapters.dynamodb.history.message_log import DynamoMessageLog
from pillarbox.adapters.dynamodb.records import account_item, message_item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.sqs import sweep_tasks
from pillarbox.adapters.sqs.sweep_tasks import SqsSweepTasks, read_task, write_task
from pillarbox.application.delivery.ports import SweepStep, SweepTask
from pillarbox.application.history.ports import RebuildMark
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.message import EventKind, Message
from pillarbox.domain.timing import milliseconds
from tests.aws import Aws
from tests.fakes.builders import ACCOUNT, account, event, message
from tests.loops import all_pages

AT = datetime(2026, 11, 22, 4, 30, tzinfo=UTC)
TASK = SweepTask(account_id=ACCOUNT, pass_at=AT, step=SweepStep.OVERDUE)
MARK = RebuildMark(ACCOUNT, 1_795_312_800_000, AT)


def pending(table: Table, since: datetime, until: datetime) -> list[Message]:
    """Return the messages of all pages."""
    log, times = DynamoMessageLog(table), (milliseconds(since), milliseconds(until))
    return [*all_pages(lambda cursor: log.pending(ACCOUNT, *times, cursor))]


def test_the_oldest_records_are_read_and_deleted_page_by_page(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is in each shard, and neither younger ones, other accounts' nor what stays stop it."""
    monkeypatch.setattr(message_log, "_OLD", 3)
    hour = timedelta(hours=1)
    table.put(account_item(account(ACCOUNT, shards=2)))
    old = [
        message(ACCOUNT, new_id(AT - hour * n, shards)) for n in range(1, 8) for shards in (1, 2)
    ]
    others = [message(ACCOUNT, new_id(AT)), message("acct00000002", new_id(AT - hour))]
    for each in (*old, *others):
        table.put(message_item(each))
    log, cursor, pages, stays = DynamoMessageLog(table), None, 0, {old[0].message_id}
    while True:
        page = log.oldest(ACCOUNT, milliseconds(AT), cursor)
        pages += 1
        ids = [each.message_id for each in page.items if each.message_id not in stays]
        for _ in range(2):
            log.delete(ACCOUNT, ids)
        cursor = page.next
        if cursor is None:
            break
    assert pages <= 12
    left = log.newest_first(ACCOUNT, 0, milliseconds(AT + hour))
    assert {each.message_id for each in left} == stays | {others[0].message_id}
    assert log.get_all("acct00000002", [others[1].message_id])


def test_the_time_of_an_accounts_records_never_falls(table: Table) -> None:
    """A task that is late does not take back what another one stored; no account is made."""
    accounts = DynamoAccounts(table)
    table.put(account_item(account(ACCOUNT)))
    for days, stored in ((2, 2), (3, 2), (1, 1)):
        accounts.set_records_from(ACCOUNT, AT - timedelta(days=days))
        found = accounts.get(ACCOUNT)
        assert found
        assert found.records_from == AT - timedelta(days=stored)
    accounts.set_records_from("acct00000002", AT)
    assert accounts.get("acct00000002") is None


def test_only_pending_messages_of_the_range_are_returned(table: Table) -> None:
    hour, millisecond = timedelta(hours=1), timedelta(milliseconds=1)
    stored = {
        at: message(ACCOUNT, new_id(at))
        for at in (AT - millisecond, AT, AT + hour - millisecond, AT + hour)
    }
    for each in stored.values():
        table.put(message_item(each))
    delayed = message(ACCOUNT, new_id(AT), events=(event(EventKind.DELAYED),))
    for other in (
        message(ACCOUNT, new_id(AT), events=(event(EventKind.SENT),)),
        message("acct00000002", new_id(AT)),
        delayed,
    ):
        table.put(message_item(other))
    found = pending(table, AT, AT + hour)
    expected = {stored[AT].message_id, stored[AT + hour - millisecond].message_id}
    assert {each.message_id for each in found} == expected | {delayed.message_id}


def test_more_than_a_page_is_read(table: Table) -> None:
    """A page reads 1 MB of records; all pages together have each pending message once."""
    stored = [
        message(ACCOUNT, new_id(AT + timedelta(seconds=n)), subject="s" * 200_000) for n in range(7)
    ]
    for each in stored:
        table.put(message_item(each))
    until = AT + timedelta(hours=1)
    found = pending(table, AT, until)
    assert [each.message_id for each in found] == [each.message_id for each in stored]
    assert (
        DynamoMessageLog(table).pending(ACCOUNT, milliseconds(AT), milliseconds(until), None).next
    )


@pytest.mark.parametrize(
    "task",
    [
        TASK,
        SweepTask(account_id=ACCOUNT, pass_at=AT, step=SweepStep.SPOOL, cursor="a/b"),
        SweepTask(account_id=ACCOUNT, pass_at=AT, step=SweepStep.STATISTICS, cursor="17"),
        SweepTask(account_id=ACCOUNT, pass_at=AT, step=SweepStep.REBUILD, mark=MARK),
    ],
)
def test_a_task_is_read_as_it_was_written(task: SweepTask) -> None:
    assert read_task(write_task(task)) == task


@pytest.mark.parametrize("text", ["{}", "[]", "x", '{"version": 2}', '{"version": 1}'])
def test_another_message_is_no_task(text: str) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        read_task(text)


def test_many_tasks_are_queued_once_each(aws: Aws) -> None:
    tasks = [TASK] * 111
    assert SqsSweepTasks(aws.queue_url).put_all(iter(tasks)) == len(tasks)
    attributes = boto3.client("sqs").get_queue_attributes(
        QueueUrl=aws.queue_url,
        AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed"],
    )["Attributes"]
    assert sum(map(int, attributes.values())) == 111


def test_ten_tasks_become_visible_each_second(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass of many accounts takes few functions at a time, and no task waits for an hour."""
    sent: list[Any] = []
    monkeypatch.setattr(sweep_tasks, "send_all", lambda _sqs, _url, group: sent.extend(group))
    SqsSweepTasks(aws.queue_url).put_all([TASK] * 9_015)
    delays = Counter(entry["DelaySeconds"] for entry in sent)
    assert delays == dict.fromkeys(range(900), 10) | {0: 20, 1: 15}


@pytest.mark.usefixtures("refusing_queue")
def test_a_refused_task_is_an_error(aws: Aws) -> None:
    """If the queue refuses a task of a batch, the pass fails, so that it is begun again."""
    with pytest.raises(Unavailable):
        SqsSweepTasks(aws.queue_url).put_all([TASK])
