"""What the queue of the provider's events and its dead-letter queue still hold."""

from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from pillarbox.adapters.aws import client_of, service_errors
from pillarbox.adapters.sqs.batches import SqsQueue
from pillarbox.adapters.sqs.queue_ages import reports
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
#: An event that always fails is received so often before it is a dead letter.
RECEIPTS: Final = 30
#: How long an event that was received is invisible, if it is not deleted.
VISIBILITY: Final = timedelta(minutes=1)
#: How far back the reports are read. SQS reports every minute, some minutes late.
_REPORTED: Final = timedelta(hours=3)
#: For how long reports may be missing before they show nothing.
_GAP: Final = timedelta(minutes=5)
#: How long after the last report of a dead letter it may be moved into the queue.
_MOVED_WITHIN: Final = timedelta(minutes=10)


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

        SQS leaves an event that was received three times out of the age of the oldest one, and an
        event that was a dead letter is young again. So no age ends the wait. What ends it is that
        the queue worked for as long as an older event can stay: from one report on, which shows
        no older event that SQS counts, some events were received in each minute, and none waited
        longer than the largest age, or than it took to receive all that waited. An older event was
        then received as often as it can be.
        """
        if self._is_empty(self._queue_url):
            return False
        ages, received, waiting, dead_letters = self._reports()
        moment = max([moment, *(at + _MOVED_WITHIN for at, n in dead_letters.items() if n)])
        reported = sorted(ages.keys() & received.keys() & waiting.keys(), reverse=True)
        longest = timedelta(0)
        for at, later in zip(reported, reported[:1] + reported, strict=False):
            if not received[at] or later - at > _GAP:
                return True
            age = timedelta(seconds=ages[at])
            longest = max(longest, age, waiting[at] / received[at] * timedelta(minutes=1))
            stay = RECEIPTS * (VISIBILITY + longest)
            if at - age > moment + CLOCK_MARGIN and reported[0] - at >= stay:
                return False
        return True

    def _reports(self) -> tuple[dict[datetime, float], ...]:
        """Return the ages of the oldest event, and how many were received, wait and are dead."""
        now = self._clock()
        read = partial(reports, self._cloudwatch, since=now - _REPORTED, until=now)
        with service_errors("metrics"):
            return (
                read(self._queue_url, "ApproximateAgeOfOldestMessage"),
                read(self._queue_url, "NumberOfMessagesReceived"),
                read(self._queue_url, "ApproximateNumberOfMessagesVisible"),
                read(self._dead_letters_url, "ApproximateNumberOfMessagesVisible"),
            )

    def _is_empty(self, queue_url: str) -> bool:
        with service_errors("queue"):
            answer = self._sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=_COUNTS)
        return not any(int(answer["Attributes"][name]) for name in _COUNTS)
