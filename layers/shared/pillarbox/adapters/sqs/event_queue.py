"""What the queue of the provider's events and its dead-letter queue still hold."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from pillarbox.adapters.aws import client_of, service_errors
from pillarbox.adapters.sqs.batches import SqsQueue
from pillarbox.adapters.sqs.queue_ages import reported_ages
from pillarbox.domain.timing import CLOCK_MARGIN

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
#: How long an event that always fails can stay: it is received 30 times, once a minute.
LONGEST_STAY: Final = timedelta(minutes=45)
#: How far back the reports of the age are read. SQS reports every minute, some minutes late.
_REPORTED: Final = timedelta(minutes=60)


class SqsEventQueue(SqsQueue):
    """Implements `delivery.ports.EventQueue`."""

    _cloudwatch: "CloudWatchClient" = client_of("cloudwatch")

    def __init__(self, queue_url: str, dead_letters_url: str, clock: "Clock") -> None:
        super().__init__(queue_url)
        self._dead_letters_url = dead_letters_url
        self._clock = clock

    def may_hold_older_than(self, moment: datetime) -> bool:
        """Count both queues. Under load the queue of events is never empty, and time must decide.

        An operator must redrive the dead letters first: nothing shows how old they are.
        """
        # An event may move between the two queues meanwhile, so one is counted twice.
        return (
            not self._is_empty(self._dead_letters_url)
            or self._queue_may_hold_older_than(moment)
            or not self._is_empty(self._dead_letters_url)
        )

    def _queue_may_hold_older_than(self, moment: datetime) -> bool:
        """Return whether the queue is not empty, until each older event must be a dead letter.

        SQS leaves an event that was received three times out of the age of the oldest one. So a
        young age shows only that older events have been received so often; from then on they
        have `LONGEST_STAY`. The last report before that time and all later ones must be young:
        an old age prolongs the wait. What was reported still earlier says nothing about now.
        """
        if self._is_empty(self._queue_url):
            return False
        now = self._clock()
        with service_errors("metrics"):
            reports = reported_ages(self._cloudwatch, self._queue_url, now - _REPORTED, now)
        since = max((at for at in reports if at <= now - LONGEST_STAY), default=None)
        if since is None:
            return True
        oldest = min(at - timedelta(seconds=age) for at, age in reports.items() if at >= since)
        return oldest <= moment + CLOCK_MARGIN

    def _is_empty(self, queue_url: str) -> bool:
        with service_errors("queue"):
            answer = self._sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=_COUNTS)
        return not any(int(answer["Attributes"][name]) for name in _COUNTS)
