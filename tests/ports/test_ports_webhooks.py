"""What webhooks store and queue, on emulated AWS."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import boto3
import pytest
from botocore.client import BaseClient

from pillarbox.adapters.dynamodb import keys, timer
from pillarbox.adapters.dynamodb.table import (
    Table,
    to_item,
)
from pillarbox.adapters.dynamodb.webhooks.deliveries import (
    DynamoWaitingEvents,
    DynamoWebhookDeliveries,
)
from pillarbox.adapters.dynamodb.webhooks.due_times import DynamoDueTimes
from pillarbox.adapters.sqs.webhook_jobs import SqsWebhookQueue, read_task, write_task
from pillarbox.domain.accounts.alert import AlertPost
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.timing import milliseconds
from pillarbox.domain.webhooks.endpoint import (
    DeliveryAttempt,
    DeliveryState,
    DueTask,
    EndpointDrain,
    OwnerNotice,
    PostingTask,
    WebhookDelivery,
    WebhookEvent,
    WebhookType,
)
from tests.aws import Aws
from tests.fakes.builders import ACCOUNT, NOW, OTHER_ACCOUNT, at

ENDPOINT = "endpoint-1"
DRAIN = EndpointDrain(ACCOUNT, ENDPOINT)


class AdjustableClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


class WebhookPorts:
    """The adapters, and a clock for them."""

    def __init__(self, aws: Aws) -> None:
        table = Table(aws.table)
        self.clock = AdjustableClock()
        self.deliveries = DynamoWebhookDeliveries(table)
        self.waiting = DynamoWaitingEvents(table, self.clock)
        self.due = DynamoDueTimes(table)
        self.queue = SqsWebhookQueue(aws.queue_url)
        self._queue_url = aws.queue_url

    def receive(self) -> list[PostingTask]:
        return _received(self._queue_url)


@pytest.fixture
def ports(aws: Aws) -> WebhookPorts:
    return WebhookPorts(aws)


def _received(queue_url: str) -> list[PostingTask]:
    sqs, tasks = boto3.client("sqs"), []
    while found := sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=10).get("Messages"):
        tasks += [read_task(message["Body"]) for message in found]
    return tasks


def event(number: int = 1, seconds: float = 0, **changes: object) -> WebhookEvent:
    default = WebhookEvent(
        event_id=UUID(int=number),
        type=WebhookType.EMAIL_BOUNCED,
        account_id=ACCOUNT,
        endpoint_id=ENDPOINT,
        at=at(seconds),
        message_id=UUID(int=99),
    )
    return replace(default, **changes)  # type: ignore[arg-type]


SUPPRESSION = event(type=WebhookType.SUPPRESSION_ADDED, message_id=None, address="ann@example.com")


def test_a_record_that_comes_late_does_not_replace_the_end(ports: WebhookPorts) -> None:
    waiting, delivered, failed = (
        WebhookDelivery(event=event(), state=DeliveryState(state))
        for state in ("waiting", "delivered", "failed")
    )
    for first, second, last in (
        (failed, waiting, failed),
        (failed, failed, failed),
        (failed, delivered, delivered),
        (delivered, waiting, delivered),
        (delivered, failed, delivered),
        (delivered, delivered, delivered),
    ):
        for of in (event(), event(replayed_at=at(1))):
            ports.deliveries.put(replace(waiting, event=event(replayed_at=at(2))))
            ports.deliveries.put(replace(waiting, event=of))
            ports.deliveries.put(replace(first, event=of))
            ports.deliveries.put(replace(second, event=of))
            found = ports.deliveries.get(ACCOUNT, ENDPOINT, of.delivery_id)
            assert found == replace(last, event=of)
            # A replay starts over, and what came before it stays behind it.
            again = replace(waiting, event=event(replayed_at=at(2)))
            ports.deliveries.put(again)
            assert ports.deliveries.get(ACCOUNT, ENDPOINT, of.delivery_id) == again
    ports.deliveries.put(replace(delivered, event=again.event))
    ports.deliveries.put(failed)
    ports.deliveries.put(replace(waiting, event=event(replayed_at=at(1))))
    assert ports.deliveries.get(ACCOUNT, ENDPOINT, again.event.delivery_id) == replace(
        delivered, event=again.event
    )


def test_an_event_that_was_put_again_is_not_removed(ports: WebhookPorts) -> None:
    versions = [event(1), event(1), *(replace(event(1), replayed_at=at(n)) for n in (1, 2))]
    for old, new in pairwise(versions):
        ports.waiting.put(old)
        (read,) = ports.waiting.oldest(ACCOUNT, ENDPOINT, 9)
        ports.waiting.put(new)
        ports.waiting.remove(read)
        (later,) = ports.waiting.oldest(ACCOUNT, ENDPOINT, 9)
        assert (read, later) == (old, new)
        ports.waiting.remove(later)
        ports.waiting.put(new)
        ports.waiting.remove(later)  # a repeated request, whose first answer was lost
        assert [*ports.waiting.oldest(ACCOUNT, ENDPOINT, 9)] == [new]


def test_an_event_that_cannot_be_read_lets_others_go_first(aws: Aws) -> None:
    """A worker of an older version drains what it can read, and then fails."""
    table, events = Table(aws.table), [event(1), event(2, 1), event(9, 2)]
    waiting = DynamoWaitingEvents(table, lambda: NOW)
    for each in events:
        waiting.put(each)
    first = keys.waiting_event(ACCOUNT, ENDPOINT, events[0].delivery_id)
    table.update(first, "SET #type = :type", values={":type": "email.opened"})
    for rest in (events[1:], events[2:]):
        assert [*waiting.oldest(ACCOUNT, ENDPOINT, 1)] == rest[:1]
        found = [*waiting.oldest(ACCOUNT, ENDPOINT, 9)]
        assert found == rest
        waiting.remove(found[0])
    with pytest.raises(ValueError, match=r"email\.opened"):
        waiting.oldest(ACCOUNT, ENDPOINT, 1)


def test_an_event_waits_for_seven_days(ports: WebhookPorts) -> None:
    ports.waiting.put(event(1))
    ports.clock.now += timedelta(hours=1)
    ports.waiting.put(event(2))
    ports.clock.now = NOW + timedelta(days=7)
    assert [*ports.waiting.oldest(ACCOUNT, ENDPOINT, 1)] == [event(2)]


def test_tasks_are_due_in_their_minute(ports: WebhookPorts) -> None:
    tried = replace(event(1), attempts=2)
    ports.due.put(tried, at(60))
    ports.due.put(tried, at(60))
    ports.due.put(DRAIN, at(60))
    ports.due.put(SUPPRESSION, at(900))
    minute = (NOW + timedelta(minutes=2)).replace(second=0, microsecond=0)
    assert not [*ports.due.due(minute - timedelta(milliseconds=1))]
    found = [(due, task) for due, tasks in ports.due.due(minute) for task in tasks]
    assert sorted(map(repr, found)) == sorted(map(repr, [(minute, tried), (minute, DRAIN)]))


def test_a_minute_whose_tasks_were_not_removed_is_read_again(ports: WebhookPorts) -> None:
    ports.due.put(event(1), at(60))
    parts = iter(ports.due.due(at(180)))
    assert list(next(parts)[1]) == [event(1)]
    del parts
    assert [task for _, tasks in ports.due.due(at(240)) for task in tasks] == [event(1)]


@pytest.mark.parametrize(
    "task",
    [
        event(),
        SUPPRESSION,
        DRAIN,
        replace(DRAIN, lease=at(60)),
        replace(DRAIN, successes=7, late=True),
        replace(event(), attempts=3, replayed_at=at(1)),
        AlertPost(ACCOUNT, "A title\nA text", attempts=2),
    ],
)
def test_a_task_is_read_as_it_was_written(task: PostingTask) -> None:
    assert read_task(write_task(task)) == task


@pytest.mark.parametrize("text", ["{}", "[]", "x", '{"version": 2}', '{"version": 1}'])
def test_another_message_is_no_task(text: str) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        read_task(text)


def test_the_account_is_the_message_group(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQS serves other accounts first while one has many messages in flight, of any endpoint."""
    requests: list[dict[str, Any]] = []
    call = BaseClient._make_api_call  # type: ignore[attr-defined]

    def record(client: BaseClient, operation: str, parameters: dict[str, Any]) -> object:
        requests.append(parameters)
        return call(client, operation, parameters)

    monkeypatch.setattr(BaseClient, "_make_api_call", record)
    tasks: list[PostingTask] = [
        event(endpoint_id="endpoint-2"),
        DRAIN,
        AlertPost(ACCOUNT, "text"),
    ]
    SqsWebhookQueue(aws.queue_url).put_all([*tasks, replace(DRAIN, account_id=OTHER_ACCOUNT)])
    (request,) = requests
    groups = [entry["MessageGroupId"] for entry in request["Entries"]]
    assert groups == [ACCOUNT, ACCOUNT, ACCOUNT, OTHER_ACCOUNT]


@pytest.mark.usefixtures("refusing_queue")
def test_a_refused_task_is_an_error(aws: Aws) -> None:
    with pytest.raises(Unavailable):
        SqsWebhookQueue(aws.queue_url).put_all([event()])


def test_a_delivery_expires_thirty_days_after_what_happened_last(aws: Aws) -> None:
    """If the record of an old event that is replayed were gone, its attempts would never end."""
    table = Table(aws.table)
    attempt = DeliveryAttempt(at=at(90), status_code=503, milliseconds=1)
    for replayed_at, attempts, last in (
        (None, (), NOW),
        (at(60), (), at(60)),
        (at(60), (attempt,), at(90)),
    ):
        replayed = event(replayed_at=replayed_at)
        delivery = WebhookDelivery(event=replayed, state=DeliveryState.WAITING, attempts=attempts)
        DynamoWebhookDeliveries(table).put(delivery)
        item = table.get(keys.webhook_delivery(ACCOUNT, ENDPOINT, replayed.delivery_id))
        assert item is not None
        assert item["expires_at"] == round(last.timestamp()) + 30 * 24 * 3600


def test_the_timer_keeps_each_notice_to_an_owner(aws: Aws) -> None:
    """Two notices of one endpoint, a drain and an event wait side by side, and are removed."""
    due = DynamoDueTimes(Table(aws.table))
    assert not [*due.due(NOW)]
    notices = [OwnerNotice(ACCOUNT, ENDPOINT, moment) for moment in (at(1), at(2))]
    tasks: list[DueTask] = [*notices, EndpointDrain(ACCOUNT, ENDPOINT), event()]
    for task in tasks:
        due.put(task, at(60))
    found = [(minute, task) for minute, part in due.due(at(120)) for task in part]
    assert {repr(task) for _, task in found} == {repr(task) for task in tasks}
    for minute, task in found:
        due.remove(minute, [task])
    items = boto3.client("dynamodb").scan(TableName=aws.table)["Items"]
    assert not [item for item in items if item["pk"]["S"].startswith("DUE#")]


def test_a_timer_that_stood_still_makes_up_for_its_minutes(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an outage each pass reads some of the missed minutes, until none is missed."""
    monkeypatch.setattr(timer, "_MINUTES_AT_A_TIME", 5)
    due = DynamoDueTimes(Table(aws.table))
    due.put(event(2), at(6000))
    for _ in range(3):
        assert not [*due.due(NOW)]
    due.put(event(1), at(600))
    found = []
    for _ in range(4):
        parts = [*due.due(at(700))]
        found.append([task for _, tasks in parts for task in tasks])
        for minute, tasks in parts:
            due.remove(minute, tasks)
    assert found == [[], [], [event(1)], []]


def test_a_task_that_cannot_be_read_does_not_stop_the_timer(aws: Aws) -> None:
    table = Table(aws.table)
    due = DynamoDueTimes(table)
    for number in (1, 2):
        due.put(event(number), at(60 * number))
    minute_number = (milliseconds(at(60)) + 59_999) // 60_000
    name = f"{ACCOUNT}#{ENDPOINT}#{event(3).delivery_id}"
    unreadable = keys.timer_item("DUE", minute_number, name)
    table.put(unreadable | to_item({"type": "email.of_a_later_version"}))
    parts = iter(due.due(at(180)))
    (minute, first), (following, second) = next(parts), next(parts)
    due.remove(minute, first)
    with pytest.raises(ValueError, match="later_version"):
        next(parts)
    found = [*first, *second]
    assert found == [event(1), event(2)]
    due.remove(following, second)
    assert not [task for _, tasks in due.due(at(240)) for task in tasks]
    assert table.get(unreadable) is None
    with pytest.raises(ValueError, match="later_version"):
        _ = [*due.due(at(900))]


@pytest.mark.parametrize("late", [0, 60, 119])
def test_a_task_that_is_put_into_a_minute_late_is_found(aws: Aws, late: float) -> None:
    """A slow call or a clock that is behind puts a task into a minute that passes have read."""
    due, minute = DynamoDueTimes(Table(aws.table)), NOW.replace(second=0, microsecond=0)
    due.put(event(2), minute + timedelta(hours=1))
    _ = [*due.due(minute + timedelta(seconds=late))]
    due.put(event(1), minute)
    found = [task for _, tasks in due.due(minute + timedelta(seconds=late)) for task in tasks]
    assert found == [event(1)]


def test_a_timer_that_nobody_has_used_reads_its_note_only(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table(aws.table)
    for call in ("query", "put", "put_new"):
        monkeypatch.delattr(Table, call)
    assert not [*DynamoDueTimes(table).due(NOW)]


def test_an_hour_of_outage_loses_no_task(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timer, "monotonic", lambda: 0.0)
    due, minute = DynamoDueTimes(Table(aws.table)), timedelta(minutes=1)
    due.put(event(99), NOW + timedelta(hours=2))
    _ = [*due.due(NOW)]
    tasks = [event(number, at=NOW + number * minute) for number in range(1, 61)]
    for task in tasks:
        due.put(task, task.at)
    assert [task for _, part in due.due(NOW + 62 * minute) for task in part] == tasks
