"""Monitoring data from CloudWatch, SNS and Lambda: alarms, queue ages, concurrency."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final

from pillarbox.adapters.aws import make_client, operator_errors

_NAME: Final = "monitoring service"
#: The logical id in the template of the topic for all alarms.
_TOPIC: Final = "AlarmTopic"
#: SQS reports every minute, with a delay of a few minutes.
_RECENT: Final = timedelta(minutes=15)
_MINUTE: Final = 60


class CloudWatchMonitoring:
    """Implements `operations.ports.StackMonitoring` for a CloudFormation stack."""

    def __init__(self, stack_name: str, clock: Callable[[], datetime]) -> None:
        self._stack_name = stack_name
        self._clock = clock

    # No type stubs are installed for these services.

    @cached_property
    def _cloudwatch(self) -> Any:  # noqa: ANN401  see above
        return make_client("cloudwatch")

    @cached_property
    def _sns(self) -> Any:  # noqa: ANN401  see above
        return make_client("sns")

    @cached_property
    def _topic(self) -> str:
        with operator_errors(_NAME):
            response = make_client("cloudformation").describe_stack_resource(
                StackName=self._stack_name, LogicalResourceId=_TOPIC
            )
        topic: str = response["StackResourceDetail"]["PhysicalResourceId"]
        return topic

    def firing_alarms(self) -> Sequence[str]:
        """Return the names of the alarms in state ALARM that notify the stack's topic."""
        return [alarm["AlarmName"] for alarm in self._alarms() if alarm["StateValue"] == "ALARM"]

    def silent_alarms(self) -> Mapping[str, datetime]:
        """Return the alarms that notify the topic of missing data and have no data."""
        return {
            # An alarm that never changed its state may have no time of the change.
            alarm["AlarmName"]: alarm.get(
                "StateTransitionedTimestamp", alarm["StateUpdatedTimestamp"]
            )
            for alarm in self._alarms()
            if alarm["StateValue"] == "INSUFFICIENT_DATA"
            and self._topic in alarm["InsufficientDataActions"]
        }

    def _alarms(self) -> list[Any]:
        with operator_errors(_NAME):
            pages = self._cloudwatch.get_paginator("describe_alarms").paginate(
                ActionPrefix=self._topic
            )
            return [alarm for page in pages for alarm in page["MetricAlarms"]]

    def alarm_subscribers(self) -> int:
        """Return how many confirmed subscriptions the topic has."""
        with operator_errors(_NAME):
            pages = self._sns.get_paginator("list_subscriptions_by_topic").paginate(
                TopicArn=self._topic
            )
            # An unconfirmed subscription has no ARN yet.
            return sum(
                subscription["SubscriptionArn"].startswith("arn:")
                for page in pages
                for subscription in page["Subscriptions"]
            )

    def function_concurrency(self) -> int:
        """Return the AWS account's limit of concurrent functions in this region."""
        with operator_errors(_NAME):
            limits = make_client("lambda").get_account_settings()["AccountLimit"]
        return int(limits["ConcurrentExecutions"])

    def oldest_message_age(self, queue_url: str) -> float | None:
        """Return the newest value of a queue's ApproximateAgeOfOldestMessage in seconds."""
        now = self._clock()
        with operator_errors(_NAME):
            response = self._cloudwatch.get_metric_statistics(
                Namespace="AWS/SQS",
                MetricName="ApproximateAgeOfOldestMessage",
                Dimensions=[{"Name": "QueueName", "Value": queue_url.rpartition("/")[2]}],
                StartTime=now - _RECENT,
                EndTime=now,
                Period=_MINUTE,
                Statistics=["Maximum"],
            )
        points = sorted(response["Datapoints"], key=lambda point: point["Timestamp"])
        return float(points[-1]["Maximum"]) if points else None
