"""What the queue of events may still hold: `delivery.ports.EventQueue`."""

from datetime import datetime, timedelta
from typing import Any

import boto3
import pytest

from pillarbox.adapters.sqs.event_queue import SqsEventQueue
from pillarbox.domain.errors import ServiceError
from tests.aws import Aws
from tests.fakes.builders import NOW, at


class Queues:
    """The queue of events and its dead-letter queue."""

    def __init__(self) -> None:
        self.sqs = boto3.client("sqs")
        self.events, self.dead_letters = (
            self.sqs.create_queue(QueueName=name)["QueueUrl"] for name in ("events", "dead")
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


@pytest.mark.parametrize(("age", "may_hold"), [(0, False), (31, True)])
def test_the_age_of_the_oldest_event_decides_under_load(
    queues: Queues, age: float, *, may_hold: bool
) -> None:
    """A queue that is never empty holds nothing older than the latest report shows."""
    queues.put(queues.events)
    queues.report_age(at(-180), 3600)
    queues.report_age(at(-60), age)
    queues.report_age(at(-60), 3600, "another")
    # Reports may be aligned to full minutes: this one to 26.5 s earlier.
    assert queues.adapter.may_hold_older_than(at(-90)) == may_hold


def test_an_old_report_decides_nothing(queues: Queues) -> None:
    """Without a report of the last minutes the age of the oldest event is unknown."""
    queues.put(queues.events)
    queues.report_age(at(-1800), 0)
    assert queues.adapter.may_hold_older_than(NOW - timedelta(days=1))


def test_an_unreachable_queue_is_unavailable(
    queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If SQS cannot be asked, the caller gets `service_unavailable` and decides nothing."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", "http://127.0.0.1:9")
    adapter = SqsEventQueue(queues.events, queues.dead_letters, lambda: NOW)
    with pytest.raises(ServiceError, match="queue"):
        adapter.may_hold_older_than(NOW)
