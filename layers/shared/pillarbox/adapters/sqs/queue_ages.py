"""What SQS reports of a queue to CloudWatch, such as the age of its oldest message."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal

from pillarbox.adapters.aws import client_of, operator_errors

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient

    from pillarbox.application.ports import Clock

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
    """Implements `operation.ports.QueueAges`."""

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
