"""What the queue of events may still hold: `delivery.ports.EventQueue`."""

import json
from collections.abc import Mapping
from typing import Any

import boto3
import pytest

from pillarbox.adapters.sqs.event_queue import SqsEventQueue
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import new_token
from pillarbox.domain.messages.message import Message
from tests.aws import Aws
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, NOW, at
from tests.loops import for_each

MESSAGE = builders.message()


def letter(message: Message, account: str = ACCOUNT) -> str:
    """Return the event of a message, as EventBridge sets it aside."""
    tags = {"account": [account], "message": [str(message.message_id)]}
    return json.dumps({"detail": {"eventType": "Delivery", "mail": {"tags": tags}}})


class Queues:
    """The queue of events and its dead-letter queue."""

    def __init__(self, name: str = "events") -> None:
        self.sqs, self.name = boto3.client("sqs"), name
        self.events, self.dead_letters = (
            self.sqs.create_queue(QueueName=queue)["QueueUrl"] for queue in (name, f"{name}-dead")
        )
        self.adapter = SqsEventQueue(self.events, self.dead_letters, lambda: NOW)

    def put(self, url: str, text: str = "{}") -> None:
        self.sqs.send_message(QueueUrl=url, MessageBody=text)

    def receive(self) -> Any:
        return self.sqs.receive_message(QueueUrl=self.events)["Messages"][0]["ReceiptHandle"]

    def report(self, metric: str, values: Mapping[float, float], queue: str | None = None) -> None:
        """Report values by how many minutes ago, as SQS does."""
        boto3.client("cloudwatch").put_metric_data(
            Namespace="AWS/SQS",
            MetricData=[
                {
                    "MetricName": metric,
                    "Dimensions": [{"Name": "QueueName", "Value": queue or self.name}],
                    "Timestamp": at(-60 * ago),
                    "Value": value,
                }
                for ago, value in values.items()
            ],
        )


@pytest.fixture
def queues(aws: Aws) -> Queues:
    del aws
    return Queues()


def test_an_empty_queue_holds_nothing(queues: Queues) -> None:
    assert not queues.adapter.may_hold_older_than(NOW, MESSAGE)


def test_a_waiting_event_may_be_the_one(queues: Queues) -> None:
    queues.put(queues.events)
    assert queues.adapter.may_hold_older_than(NOW, MESSAGE)
    receipt = queues.receive()
    assert queues.adapter.may_hold_older_than(NOW, MESSAGE)
    queues.sqs.delete_message(QueueUrl=queues.events, ReceiptHandle=receipt)
    assert not queues.adapter.may_hold_older_than(NOW, MESSAGE)


OTHER = builders.message()
TENANT = json.dumps({"detail-type": "Sending Status Disabled", "detail": {}})


@for_each(
    ("letters", "may_hold"),
    [
        ([letter(MESSAGE)], True),
        ([letter(OTHER)], False),
        # Ids are those of an account.
        ([letter(MESSAGE, "acct00000002")], False),
        ([letter(OTHER)] * 9 + [letter(MESSAGE)], True),
        # A look sees ten.
        ([letter(OTHER)] * 10, False),
        ([letter(OTHER)] * 11, True),
        # A letter without a message may be of any, but not one about a tenant.
        (["{}"], True),
        (["no JSON"], True),
        ([letter(OTHER).replace("account", "acc")], True),
        ([TENANT, letter(OTHER)], False),
        ([letter(OTHER)[:-2]], False),
    ],
)
def test_a_dead_letter_holds_only_its_own_message(
    aws: Aws, letters: list[str], *, may_hold: bool
) -> None:
    del aws
    queues = Queues(f"letters-{new_token(8)}")
    for text in letters:
        queues.put(queues.dead_letters, text)
    for _ in range(2):  # a look hides nothing
        assert queues.adapter.may_hold_older_than(NOW, MESSAGE) == may_hold


def test_a_dead_letter_that_is_being_moved_may_be_the_one(queues: Queues) -> None:
    """A redrive receives a letter before it sends it, and meanwhile nobody else can read it."""
    queues.put(queues.dead_letters, letter(OTHER))
    queues.sqs.receive_message(QueueUrl=queues.dead_letters)
    assert queues.adapter.may_hold_older_than(NOW, MESSAGE)


@pytest.mark.parametrize("redriven", [False, True])
def test_an_event_that_moves_during_the_check_is_noticed(
    queues: Queues, monkeypatch: pytest.MonkeyPatch, *, redriven: bool
) -> None:
    """An event may become a dead letter, or a dead letter an event, between two counts."""
    source, target = queues.events, queues.dead_letters
    if redriven:
        source, target = target, source
    queues.put(source)
    counted: list[str] = []
    count = queues.adapter._count

    def count_and_move(url: str) -> int:
        result = count(url)
        if not counted:
            queues.sqs.purge_queue(QueueUrl=source)
            queues.put(target)
        counted.append(url)
        return result

    monkeypatch.setattr(queues.adapter, "_count", count_and_move)
    assert queues.adapter.may_hold_older_than(NOW, MESSAGE)


def _from(first: int, **ages: float) -> dict[float, float]:
    """Return an age for each minute from one on, which is zero except for those given."""
    reports: dict[float, float] = {int(name[1:]): age for name, age in ages.items()}
    return dict.fromkeys(range(1, first + 1), 0.0) | reports


@for_each(
    ("ages", "changes", "minutes", "may_hold"),
    [
        # A young age alone shows nothing: it does not count events that were received often.
        ({}, {}, 70, True),
        (_from(1), {}, 70, True),
        (_from(30), {}, 70, True),
        # For longer than such an event can stay, events were received at once.
        (_from(31), {}, 70, False),
        # They waited for a minute, so the receipts are two minutes apart.
        (_from(60, _1=60), {}, 70, True),
        (_from(61, _1=60), {}, 70, False),
        (_from(61, _62=60 * 70), {}, 70, False),
        # The reports must be of the time after the hand-over, by more than clocks may differ.
        (_from(60), {}, 31, True),
        (_from(60), {}, 32, False),
        (_from(60, _31=30), {}, 32, True),
        # Nothing was received in one minute, or nothing is known of six.
        (_from(60), {"received": {10: 0}}, 70, True),
        (_from(60), {"missing": range(11, 15)}, 70, False),
        (_from(60), {"missing": range(11, 16)}, 70, True),
        # More wait than are received in a minute, so the receipts are two minutes apart.
        (_from(60), {"waiting": {10: 1}}, 70, True),
        (_from(61), {"waiting": {10: 1}}, 70, False),
        # Dead letters of others that stay hold nothing.
        (_from(60), {"dead": dict.fromkeys(range(1, 91), 2), "letters": 2}, 70, False),
        # One that has left may be in the queue.
        (_from(60), {"dead": dict.fromkeys(range(1, 91), 2), "letters": 1}, 70, True),
        (_from(60), {"dead": {41: 2, 40: 1, 1: 1}, "letters": 1}, 70, True),
        (_from(60), {"dead": {42: 2, 41: 1, 1: 1}, "letters": 1}, 70, False),
        # A dead letter may have been moved back ten minutes after the last report of it.
        (_from(60), {"dead": {41: 1}}, 70, True),
        (_from(60), {"dead": {42: 1, 50: 1, 41: 0}}, 70, False),
    ],
)
def test_time_decides_about_a_queue_that_is_never_empty(
    aws: Aws, ages: dict[float, float], changes: dict[str, Any], minutes: float, *, may_hold: bool
) -> None:
    """A queue with events may hold an older one until that would be a dead letter for sure."""
    del aws
    queues = Queues(f"events-{new_token(8)}")
    queues.put(queues.events)
    for _ in range(changes.get("letters", 0)):
        queues.put(queues.dead_letters, letter(OTHER))
    reported = {ago: age for ago, age in ages.items() if ago not in changes.get("missing", ())}
    if reported:
        queues.report("ApproximateAgeOfOldestMessage", reported)
        received = dict.fromkeys(reported, 1.0) | changes.get("received", {})
        queues.report("NumberOfMessagesReceived", received)
        waiting = dict.fromkeys(reported, 0.0) | changes.get("waiting", {})
        queues.report("ApproximateNumberOfMessagesVisible", waiting)
    dead = {90: 0} | changes.get("dead", {})
    queues.report("ApproximateNumberOfMessagesVisible", dead, f"{queues.name}-dead")
    queues.report("ApproximateAgeOfOldestMessage", {1: 3600 * 5}, "another")
    assert queues.adapter.may_hold_older_than(at(-60 * minutes), MESSAGE) == may_hold


def test_an_unreachable_queue_is_unavailable(
    queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If SQS cannot be asked, the caller gets `service_unavailable` and decides nothing."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", "http://127.0.0.1:9")
    adapter = SqsEventQueue(queues.events, queues.dead_letters, lambda: NOW)
    with pytest.raises(ServiceError, match="queue"):
        adapter.may_hold_older_than(NOW, MESSAGE)
