"""SQS for operators: count messages and move dead letters."""

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from pillarbox.adapters.aws import client_of, operator_errors, service_errors
from pillarbox.adapters.sqs.batches import SqsQueue
from pillarbox.application.operator.ports import QueueStatus

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_NAME: Final = "queue"
#: SQS returns at most ten messages per call.
_BATCH: Final = 10
#: Seconds in which a received message must be moved, before others can receive it.
_VISIBILITY_TIMEOUT: Final = 60
_COUNTS: Final = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


class SqsQueues:
    """Implements `operator.ports.Queues`."""

    _sqs: "SQSClient" = client_of("sqs")

    def status(self, queue_url: str) -> QueueStatus:
        """Read a queue's attributes. SQS counts approximately.

        A queue and its dead-letter queue are of one AWS account and region.
        """
        with operator_errors(_NAME):
            found: Any = self._sqs.get_queue_attributes(
                QueueUrl=queue_url, AttributeNames=[*_COUNTS, "RedrivePolicy"]
            )["Attributes"]
        waiting, in_flight, delayed = (int(found.get(name, 0)) for name in _COUNTS)
        policy = json.loads(found.get("RedrivePolicy", "{}"))
        name = policy.get("deadLetterTargetArn", "").rpartition(":")[2]
        return QueueStatus(
            waiting=waiting,
            in_flight=in_flight,
            delayed=delayed,
            dead_letters_url=f"{queue_url.rpartition('/')[0]}/{name}" if name else None,
        )

    def move(self, source_url: str, target_url: str, at_most: int) -> int:
        """Move messages that the source has now, and return how many.

        A message may fail again and come back at once. So no more are moved than SQS counted at
        the start, and none whose text was moved before.
        Each message is sent before it is deleted, so a crash may duplicate but not lose one.
        """
        moved: set[bytes] = set()
        for message in self._receive(source_url, min(at_most, self.status(source_url).waiting)):
            text: str = message["Body"]
            digest = sha256(text.encode()).digest()
            if digest in moved:
                continue
            with operator_errors(_NAME):
                self._sqs.send_message(
                    QueueUrl=target_url, MessageBody=text, **message.get("Attributes", {})
                )
                self._sqs.delete_message(
                    QueueUrl=source_url, ReceiptHandle=message["ReceiptHandle"]
                )
            moved.add(digest)
        return len(moved)

    def _receive(self, queue_url: str, at_most: int) -> Iterator[Any]:
        while at_most > 0:
            with operator_errors(_NAME):
                response = self._sqs.receive_message(
                    QueueUrl=queue_url,
                    MaxNumberOfMessages=min(at_most, _BATCH),
                    VisibilityTimeout=_VISIBILITY_TIMEOUT,
                    MessageSystemAttributeNames=["MessageGroupId"],
                    # A long poll asks all SQS servers; a short poll may miss messages.
                    WaitTimeSeconds=1,
                )
            messages = response.get("Messages", [])
            if not messages:
                return
            at_most -= len(messages)
            yield from messages


class SqsDeadLetters(SqsQueue):
    """Implements `delivery.ports.DeadLetters`."""

    def put(self, text: str) -> None:
        """Put a job into the queue to which SQS moves jobs that fail too often."""
        with service_errors(_NAME):
            self._sqs.send_message(QueueUrl=self._queue_url, MessageBody=text)
