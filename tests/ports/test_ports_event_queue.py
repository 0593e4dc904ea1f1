"""What the queue of events may still hold: `delivery.ports.EventQueue`."""

from datetime import datetime
from typing import Any

import boto3
import pytest

from pillarbox.adapters.sqs.event_queue import SqsEventQueue
from pillarbox.domain.errors import ServiceError
from tests.aws import Aws
from tests.fakes.builders import NOW, at
from tests.loops import for_each


class Queues:
    """The queue of events and its dead-letter queue."""

    def __init__(self, name: str = "events") -> None:
        self.sqs, self.name = boto3.client("sqs"), name
        self.events, self.dead_letters = (
            self.sqs.create_queue(QueueName=queue)["QueueUrl"] for queue in (name, "dead")
        )
        self.adapter = SqsEventQueue(self.events, self.dead_letters, lambda: NOW)

    def put(self, url: str) -> None:
        self.sqs.send_message(QueueUrl=url, MessageBody="{}")

    def receive(self) -> Any:
        return self.sqs.receive_message(QueueUrl=self.events)["Messages"][0]["ReceiptHandle"]

    def report_age(self, reported_at: datetime, seconds: float, name: str = "events") -> None:
        """Report the age of the oldest event, as SQS does once a minute."""
        boto3.client("cloudwatch").put_metric_data(
            Namespace="AWS/SQS",
            MetricData=[
                {
                    "MetricName": "ApproximateAgeOfOldestMessage",
                    "Dimensions": [{"Name": "QueueName", "Value": name}],
                    "Timestamp": reported_at,
                    "Value": seconds,
                }
            ],
        )


@pytest.fixture
def queues(aws: Aws) -> Queues:
    del aws
    return Queues()


def test_an_empty_queue_holds_nothing(queues: Queues) -> None:
    """If both queues are empty, no event can be on its way."""
    assert not queues.adapter.may_hold_older_than(NOW)


def test_a_waiting_event_may_be_the_one(queues: Queues) -> None:
    """An event that is visible or in flight may be old, until it is deleted."""
    queues.put(queues.events)
    assert queues.adapter.may_hold_older_than(NOW)
    receipt = queues.receive()
    assert queues.adapter.may_hold_older_than(NOW)
    queues.sqs.delete_message(QueueUrl=queues.events, ReceiptHandle=receipt)
    assert not queues.adapter.may_hold_older_than(NOW)


def test_a_dead_letter_may_be_the_one(queues: Queues) -> None:
    """Nothing tells how old a dead letter is, so each one may be the event."""
    queues.put(queues.dead_letters)
    queues.report_age(at(-60), 0)
    assert queues.adapter.may_hold_older_than(NOW)


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
    is_empty = queues.adapter._is_empty

    def count_and_move(url: str) -> bool:
        result = is_empty(url)
        if not counted:
            queues.sqs.purge_queue(QueueUrl=source)
            queues.put(target)
        counted.append(url)
        return result

    monkeypatch.setattr(queues.adapter, "_is_empty", count_and_move)
    assert queues.adapter.may_hold_older_than(NOW)


#: Minutes: how long ago the uncertain hand-over should have had its event.
LONG_AGO = 70


@for_each(
    ("ages", "minutes", "may_hold"),
    [
        # A young age alone shows nothing: it does not count events that were received often.
        ({}, LONG_AGO, True),
        ({1: 0}, LONG_AGO, True),
        ({44: 0, 1: 0}, LONG_AGO, True),
        # For longer than such an event can stay, no older event was counted.
        ({46: 0, 1: 0}, LONG_AGO, False),
        ({46: 60, 20: 300, 1: 0}, LONG_AGO, False),
        # An old age prolongs the wait, however long ago it was reported.
        ({46: 60 * LONG_AGO, 20: 0, 1: 0}, LONG_AGO, True),
        ({46: 0, 20: 60 * LONG_AGO, 1: 0}, LONG_AGO, True),
        # What was reported before the last report of that time does not matter any more.
        ({58: 0, 46: 0, 1: 0}, 50, False),
        ({58: 60 * 20, 46: 0, 1: 0}, LONG_AGO, False),
        ({58: 0, 46: 60 * 5, 1: 0}, 50, True),
        # The reports must be of the time after the hand-over, by more than clocks may differ.
        ({46: 0, 1: 0}, 46, True),
        ({46: 0, 1: 0}, 48, False),
    ],
)
def test_time_decides_about_a_queue_that_is_never_empty(
    aws: Aws, ages: dict[float, float], minutes: float, *, may_hold: bool
) -> None:
    """A queue with events may hold an older one until that would be a dead letter for sure."""
    del aws
    queues = Queues(f"events-{minutes}-{hash(frozenset(ages.items()))}")
    queues.put(queues.events)
    queues.report_age(at(-60), 3600 * 5, "another")
    for ago, age in ages.items():
        queues.report_age(at(-60 * ago), age, queues.name)
    moment = at(-60 * minutes)
    assert queues.adapter.may_hold_older_than(moment) == may_hold


def test_an_unreachable_queue_is_unavailable(
    queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If SQS cannot be asked, the caller gets `service_unavailable` and decides nothing."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", "http://127.0.0.1:9")
    adapter = SqsEventQueue(queues.events, queues.dead_letters, lambda: NOW)
    with pytest.raises(ServiceError, match="queue"):
        adapter.may_hold_older_than(NOW)
