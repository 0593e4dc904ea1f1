"""The dead-letter queue of the jobs."""

from functools import cached_property
from typing import TYPE_CHECKING, Final

from pillarbox.adapters.aws import make_client, service_errors

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_NAME: Final = "queue"


class SqsDeadLetters:
    """Implements `delivery.ports.DeadLetters`."""

    def __init__(self, queue_url: str) -> None:
        self._queue_url = queue_url

    @cached_property
    def _sqs(self) -> "SQSClient":
        client: SQSClient = make_client("sqs")
        return client

    def put(self, text: str) -> None:
        """Put a job into the queue to which SQS moves jobs that fail too often."""
        with service_errors(_NAME):
            self._sqs.send_message(QueueUrl=self._queue_url, MessageBody=text)
