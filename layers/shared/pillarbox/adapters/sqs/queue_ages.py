"""The age of the oldest message of a queue, as SQS reports it to CloudWatch."""

from datetime import datetime, timedelta
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from pillarbox.adapters.aws import client_of, operator_errors

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient

    from pillarbox.application.ports import Clock

#: SQS reports every minute, with a delay of a few minutes.
_RECENT: Final = timedelta(minutes=15)
_MINUTE: Final = 60


class SqsQueueAges:
    """Implements `operation.ports.QueueAges`."""

    _cloudwatch: "CloudWatchClient" = client_of("cloudwatch")

    def __init__(self, clock: "Clock") -> None:
        self._clock = clock

    def oldest_message_age(self, queue_url: str) -> float | None:
        """Return the newest value of a queue's ApproximateAgeOfOldestMessage in seconds."""
        now = self._clock()
        with operator_errors("monitoring service"):
            latest = latest_age(self._cloudwatch, queue_url, now - _RECENT, now)
        return latest[1] if latest else None


def latest_age(
    cloudwatch: "CloudWatchClient", queue_url: str, since: datetime, until: datetime
) -> tuple[datetime, float] | None:
    """Return the last report of a time range: when it was made, and the age in seconds."""
    response = cloudwatch.get_metric_statistics(
        Namespace="AWS/SQS",
        MetricName="ApproximateAgeOfOldestMessage",
        Dimensions=[{"Name": "QueueName", "Value": queue_url.rpartition("/")[2]}],
        StartTime=since,
        EndTime=until,
        Period=_MINUTE,
        Statistics=["Maximum"],
    )
    if not response["Datapoints"]:
        return None
    latest = max(response["Datapoints"], key=itemgetter("Timestamp"))
    return latest["Timestamp"], latest["Maximum"]
