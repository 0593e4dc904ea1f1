"""The queues as an operator sees them: how much waits, and what was set aside."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from admin.operations.ports import QueueStatus
from pillarbox.adapters.aws import make_client, service_errors

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_NAME: Final = "queue"
#: SQS hands out at most ten messages at a time.
_BATCH: Final = 10
#: Seconds in which a message that is being moved must be done.
_HIDDEN: Final = 60
_COUNTS: Final = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


class SqsQueues:
    """Fulfils `administration.ports.Queues`."""

    @cached_property
    def _sqs(self) -> "SQSClient":
        client: SQSClient = make_client("sqs")
        return client

    def status(self, queue_url: str) -> QueueStatus:
        """Count a queue's messages; SQS counts approximately."""
        with service_errors(_NAME):
            counts: Any = self._sqs.get_queue_attributes(
                QueueUrl=queue_url, AttributeNames=[*_COUNTS]
            )["Attributes"]
        waiting, in_flight, delayed = (int(counts.get(name, 0)) for name in _COUNTS)
        return QueueStatus(waiting=waiting, in_flight=in_flight, delayed=delayed)

    def move(self, source_url: str, target_url: str, at_most: int) -> int:
        """Move messages; each is put before it is deleted, so a crash may double but not lose."""
        moved = 0
        for message in self._receive(source_url, at_most):
            with service_errors(_NAME):
                self._sqs.send_message(QueueUrl=target_url, MessageBody=message["Body"])
                self._sqs.delete_message(
                    QueueUrl=source_url, ReceiptHandle=message["ReceiptHandle"]
                )
            moved += 1
        return moved

    def _receive(self, queue_url: str, at_most: int) -> Iterator[Any]:
        while at_most > 0:
            with service_errors(_NAME):
                answer = self._sqs.receive_message(
                    QueueUrl=queue_url,
                    MaxNumberOfMessages=min(at_most, _BATCH),
                    VisibilityTimeout=_HIDDEN,
                    # Asks all of SQS's servers: a short poll may find nothing in a full queue.
                    WaitTimeSeconds=1,
                )
            messages = answer.get("Messages", [])
            if not messages:
                return
            at_most -= len(messages)
            yield from messages
