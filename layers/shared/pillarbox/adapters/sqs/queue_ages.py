"""The age of the oldest message of a queue, as SQS reports it to CloudWatch."""

from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pillarbox.adapters.aws import make_client, operator_errors

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient

    from pillarbox.application.ports import Clock

#: SQS reports every minute, with a delay of a few minutes.
_RECENT: Final = timedelta(minutes=15)
_MINUTE: Final = 60


class SqsQueueAges:
    """Implements `operation.ports.QueueAges`."""

    def __init__(self, clock: "Clock") -> None:
        self._clock = clock

    @cached_property
    def _cloudwatch(self) -> "CloudWatchClient":
        client: CloudWatchClient = make_client("cloudwatch")
        return client

    def oldest_message_age(self, queue_url: str) -> float | None:
        """Return the newest value of a queue's ApproximateAgeOfOldestMessage in seconds."""
        now = self._clock()
        with operator_errors("monitoring service"):
            ages = reported_ages(self._cloudwatch, queue_url, now - _RECENT, now)
        return ages[max(ages)] if ages else None


def reported_ages(
    cloudwatch: "CloudWatchClient", queue_url: str, since: datetime, until: datetime
) -> dict[datetime, float]:
    """Return the reports of a time range: the age in seconds by the minute of the report."""
    response = cloudwatch.get_metric_statistics(
        Namespace="AWS/SQS",
        MetricName="ApproximateAgeOfOldestMessage",
        Dimensions=[{"Name": "QueueName", "Value": queue_url.rpartition("/")[2]}],
        StartTime=since,
        EndTime=until,
        Period=_MINUTE,
        Statistics=["Maximum"],
    )
    return {point["Timestamp"]: point["Maximum"] for point in response["Datapoints"]}
