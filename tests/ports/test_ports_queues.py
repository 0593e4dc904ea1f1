"""The queues on emulated AWS: their messages are counted and moved without loss."""

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError

from pillarbox.adapters.sqs.queues import SqsDeadLetters, SqsQueues
from pillarbox.domain.errors import ServiceError
from tests.aws import Aws


def test_a_move_ends_if_messages_come_back_at_once(aws: Aws) -> None:
    """Each message moves once, although a worker sets each aside again before the next is read."""
    sqs = boto3.client("sqs")
    dead = sqs.create_queue(QueueName="dead-again")["QueueUrl"]
    texts = [f"job {number}" for number in range(12)]
    for text in texts:
        SqsDeadLetters(dead).put(text)
    moved: list[str] = []

    def set_aside_again(**_: object) -> None:
        (message,) = sqs.receive_message(QueueUrl=aws.queue_url)["Messages"]
        sqs.delete_message(QueueUrl=aws.queue_url, ReceiptHandle=message["ReceiptHandle"])
        moved.append(message["Body"])
        assert len(moved) <= len(texts)  # else it would go on for ever
        SqsDeadLetters(dead).put(message["Body"])

    queues = SqsQueues()
    queues._sqs.meta.events.register("after-call.sqs.SendMessage", set_aside_again)
    assert queues.move(dead, aws.queue_url, 10_000) == len(moved)
    assert len({*moved}) == len(moved) >= 10


@pytest.mark.parametrize("call", ["SendMessage", "DeleteMessage"])
def test_a_move_that_fails_loses_nothing(aws: Aws, call: str) -> None:
    """What was not sent stays a dead letter; what was not deleted is in both queues."""
    dead = boto3.client("sqs").create_queue(QueueName=f"dead-{call}")["QueueUrl"]
    SqsDeadLetters(dead).put("job")
    queues = SqsQueues()

    def fail(**_: object) -> None:
        raise EndpointConnectionError(endpoint_url="planted")

    queues._sqs.meta.events.register(f"before-send.sqs.{call}", fail)
    with pytest.raises(ServiceError):
        queues.move(dead, aws.queue_url, 1)
    statuses = [queues.status(dead), queues.status(aws.queue_url)]
    assert [one.waiting + one.in_flight for one in statuses] == [1, call == "DeleteMessage"]


def test_equal_messages_move_once(aws: Aws) -> None:
    """One of two equal texts may be one that came back, so it waits for the next redrive."""
    sqs = boto3.client("sqs")
    dead = sqs.create_queue(QueueName="dead-twice")["QueueUrl"]
    for text in ("bad", "bad", "good"):
        SqsDeadLetters(dead).put(text)
    assert SqsQueues().move(dead, aws.queue_url, 10_000) == 2
    counts = sqs.get_queue_attributes(
        QueueUrl=dead, AttributeNames=["ApproximateNumberOfMessagesNotVisible"]
    )["Attributes"]
    assert counts == {"ApproximateNumberOfMessagesNotVisible": "1"}
