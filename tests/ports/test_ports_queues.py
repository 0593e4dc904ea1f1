"""The queues on emulated AWS: their messages are counted and moved without loss."""

import boto3

from pillarbox.adapters.sqs.dead_letters import SqsDeadLetters
from pillarbox.adapters.sqs.queues import SqsQueues
from tests.aws import Aws


def test_messages_are_counted_and_moved(aws: Aws) -> None:
    """Dead letters are counted, and a part of them is moved back unchanged."""
    dead = boto3.client("sqs").create_queue(QueueName="dead")["QueueUrl"]
    for number in range(12):
        SqsDeadLetters(dead).put(f"job {number}")
    queues = SqsQueues()
    assert queues.status(dead).waiting == 12
    assert queues.move(dead, aws.queue_url, 11) == 11
    assert (queues.status(dead).waiting, queues.status(aws.queue_url).waiting) == (1, 11)
    (first,) = boto3.client("sqs").receive_message(QueueUrl=aws.queue_url)["Messages"]
    assert first["Body"].startswith("job ")
