"""What the queue of the provider's events and its dead letters hold, and how old they are."""

from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

from pillarbox.adapters.aws import client_of, operator_errors, service_errors
from pillarbox.adapters.ses.events import may_concern
from pillarbox.adapters.sqs.batches import SqsQueue
from pillarbox.domain.timing import CLOCK_MARGIN

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType

    from pillarbox.application.ports import Clock
    from pillarbox.domain.messages.message import Message

type Metric = Literal[
    "ApproximateAgeOfOldestMessage",
    "ApproximateNumberOfMessagesVisible",
    "NumberOfMessagesReceived",
]

#: SQS reports every minute, with a delay of a few minutes.
_RECENT: Final = timedelta(minutes=15)
_MINUTE: Final = 60
#: The metrics that count what happened; the others say what is.
_COUNTED: Final = frozenset({"NumberOfMessagesReceived"})


class SqsQueueAges:
    """Implements `operator.ports.QueueAges`."""

    _cloudwatch: "CloudWatchClient" = client_of("cloudwatch")

    def __init__(self, clock: "Clock") -> None:
        self._clock = clock

    def oldest_message_age(self, queue_url: str) -> float | None:
        """Return the newest value of a queue's ApproximateAgeOfOldestMessage in seconds."""
        metric: Metric = "ApproximateAgeOfOldestMessage"
        now = self._clock()
        with operator_errors("monitoring service"):
            ages = reports(self._cloudwatch, queue_url, metric, now - _RECENT, now)
        return ages[max(ages)] if ages else None


def reports(
    cloudwatch: "CloudWatchClient",
    queue_url: str,
    metric: Metric,
    since: datetime,
    until: datetime,
) -> dict[datetime, float]:
    """Return the reports of a time range by their minutes: the sum of a count, else the largest."""
    statistic: Literal["Sum", "Maximum"] = "Sum" if metric in _COUNTED else "Maximum"
    response = cloudwatch.get_metric_statistics(
        Namespace="AWS/SQS",
        MetricName=metric,
        Dimensions=[{"Name": "QueueName", "Value": queue_url.rpartition("/")[2]}],
        StartTime=since,
        EndTime=until,
        Period=_MINUTE,
        Statistics=[statistic],
    )
    return {point["Timestamp"]: point[statistic] for point in response["Datapoints"]}


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
#: How often to look until SQS returns all dead letters. Of more than ten it never does.
_LOOKS: Final = 3


class SqsEventQueue(SqsQueue):
    """Implements `delivery.ports.EventQueue`."""

    _cloudwatch: "CloudWatchClient" = client_of("cloudwatch")

    def __init__(self, queue_url: str, dead_letters_url: str, clock: "Clock") -> None:
        super().__init__(queue_url)
        self._dead_letters_url = dead_letters_url
        self._clock = clock

    def may_hold_older_than(self, moment: datetime, message: "Message") -> bool:
        """Look into both queues. Under load that of events is never empty, and time must decide.

        Nothing shows how old a dead letter is. One that names another message does not count.
        """
        # An event may move between the two queues meanwhile, so one is looked at twice.
        dead = self._dead_letters_of_others(message)
        return (
            dead is None
            or self._queue_may_hold_older_than(moment, dead)
            or self._dead_letters_of_others(message) is None
        )

    def _dead_letters_of_others(self, message: "Message") -> int | None:
        """Return how many dead letters there are; None if one of them may concern a message.

        The letters stay visible, so that no look hides them from another one or from a redrive.
        One that is hidden, since somebody is about to move it, cannot be read.
        """
        dead = self._count(self._dead_letters_url)
        for _ in range(_LOOKS):
            if not dead:
                return 0
            with service_errors("queue"):
                letters = self._sqs.receive_message(
                    QueueUrl=self._dead_letters_url,
                    MaxNumberOfMessages=10,
                    VisibilityTimeout=0,
                    # A long poll asks all SQS servers; a short poll may miss messages.
                    WaitTimeSeconds=1,
                ).get("Messages", ())
            dead = self._count(self._dead_letters_url)
            if len(letters) == dead:
                may = (may_concern(one["Body"], message) for one in letters)
                return None if any(may) else dead
        return None

    def _queue_may_hold_older_than(self, moment: datetime, dead: int) -> bool:
        """Return whether the queue is not empty, until each older event must be a dead letter.

        SQS leaves an event that was received three times out of the age of the oldest one, and an
        event that was a dead letter is young again. So no age ends the wait. What ends it is that
        the queue worked for as long as an older event can stay: from one report on, which shows
        no older event that SQS counts, some events were received in each minute, and none waited
        longer than the largest age, or than it took to receive all that waited. An older event was
        then received as often as it can be.
        """
        if not self._count(self._queue_url):
            return False
        ages, received, waiting, dead_letters = self._reports()
        counts = [*sorted(dead_letters.items()), (self._clock(), dead)]
        # Fewer dead letters than before: one may have been moved, and it may be the event.
        left = [at for (at, before), (_, after) in pairwise(counts) if after < before]
        moment = max([moment, *(at + _MOVED_WITHIN for at in left)])
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

    def _count(self, queue_url: str) -> int:
        with service_errors("queue"):
            answer = self._sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=_COUNTS)
        return sum(int(answer["Attributes"][name]) for name in _COUNTS)
