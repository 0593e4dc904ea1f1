"""The dead-letter queue of the jobs."""

from typing import Final

from pillarbox.adapters.aws import service_errors
from pillarbox.adapters.sqs.batches import SqsQueue

_NAME: Final = "queue"


class SqsDeadLetters(SqsQueue):
    """Implements `delivery.ports.DeadLetters`."""

    def put(self, text: str) -> None:
        """Put a job into the queue to which SQS moves jobs that fail too often."""
        with service_errors(_NAME):
            self._sqs.send_message(QueueUrl=self._queue_url, MessageBody=text)
