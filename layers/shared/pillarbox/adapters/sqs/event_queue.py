"""What the queue of the provider's events and its dead-letter queue still hold."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from pillarbox.adapters.aws import client_of, service_errors
from pillarbox.adapters.sqs.batches import SqsQueue
from pillarbox.adapters.sqs.queue_ages import latest_age

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType

    from pillarbox.application.ports import Clock

#: Together these are all messages of a queue (SQS, GetQueueAttributes).
_COUNTS: Final[tuple["QueueAttributeNameType", ...]] = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
)
#: SQS reports its metrics some minutes late.
_LATENESS: Final = timedelta(minutes=10)


class SqsEventQueue(SqsQueue):
    """Implements `delivery.ports.EventQueue`."""

    _cloudwatch: "CloudWatchClient" = client_of("cloudwatch")

    def __init__(self, queue_url: str, dead_letters_url: str, clock: "Clock") -> None:
        super().__init__(queue_url)
        self._dead_letters_url = dead_letters_url
        self._clock = clock

    def may_hold_older_than(self, moment: datetime) -> bool:
        """Count both queues. A queue that is never empty shows the age of its oldest event.

        An operator must redrive the dead letters first: nothing shows how old they are.
        """
        # An event may move between the two queues meanwhile, so one is counted twice.
        return (
            not self._is_empty(self._dead_letters_url)
            or self._queue_may_hold_older_than(moment)
            or not self._is_empty(self._dead_letters_url)
        )

    def _queue_may_hold_older_than(self, moment: datetime) -> bool:
        if self._is_empty(self._queue_url):
            return False
        oldest = self._oldest()
        return oldest is None or oldest <= moment

    def _is_empty(self, queue_url: str) -> bool:
        with service_errors("queue"):
            answer = self._sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=_COUNTS)
        return not any(int(answer["Attributes"][name]) for name in _COUNTS)

    def _oldest(self) -> datetime | None:
        """Return when the oldest event was queued, as of the latest report; None without one."""
        now = self._clock()
        with service_errors("metrics"):
            latest = latest_age(self._cloudwatch, self._queue_url, now - _LATENESS, now)
        return latest[0] - timedelta(seconds=latest[1]) if latest else None
