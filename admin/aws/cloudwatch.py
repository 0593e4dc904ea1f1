"""CloudWatch, SNS and Lambda: alarms, who is told of them, the queues' ages, concurrency."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final

from pillarbox.adapters.aws import make_client, operator_errors

_NAME: Final = "watch"
#: The template's name of the topic that every alarm goes to.
_TOPIC: Final = "AlarmTopic"
#: SQS reports each minute, a few minutes late.
_LATELY: Final = timedelta(minutes=15)
_MINUTE: Final = 60


class CloudWatchMonitoring:
    """Fulfils `administration.ports.StackMonitoring` for a CloudFormation stack by its name."""

    def __init__(self, stack_name: str, clock: Callable[[], datetime]) -> None:
        self._stack_name = stack_name
        self._clock = clock

    # No types are installed for these services.

    @cached_property
    def _cloudwatch(self) -> Any:  # noqa: ANN401  see above
        return make_client("cloudwatch")

    @cached_property
    def _sns(self) -> Any:  # noqa: ANN401  see above
        return make_client("sns")

    @cached_property
    def _topic(self) -> str:
        with operator_errors(_NAME):
            answer = make_client("cloudformation").describe_stack_resource(
                StackName=self._stack_name, LogicalResourceId=_TOPIC
            )
        topic: str = answer["StackResourceDetail"]["PhysicalResourceId"]
        return topic

    def firing_alarms(self) -> Sequence[str]:
        """The alarms in alarm that go to the stack's topic."""
        with operator_errors(_NAME):
            pages = self._cloudwatch.get_paginator("describe_alarms").paginate(
                ActionPrefix=self._topic
            )
            return [
                alarm["AlarmName"]
                for page in pages
                for alarm in page["MetricAlarms"]
                if alarm["StateValue"] == "ALARM"
            ]

    def alarm_subscribers(self) -> int:
        """How many confirmed subscriptions the topic has."""
        with operator_errors(_NAME):
            pages = self._sns.get_paginator("list_subscriptions_by_topic").paginate(
                TopicArn=self._topic
            )
            # One that waits for its confirmation has no ARN yet.
            return sum(
                each["SubscriptionArn"].startswith("arn:")
                for page in pages
                for each in page["Subscriptions"]
            )

    def function_concurrency(self) -> int:
        """The account's limit of functions at a time, in this region."""
        with operator_errors(_NAME):
            limits = make_client("lambda").get_account_settings()["AccountLimit"]
        return int(limits["ConcurrentExecutions"])

    def oldest_message_age(self, queue_url: str) -> float | None:
        """The newest figure of a queue's ApproximateAgeOfOldestMessage."""
        now = self._clock()
        with operator_errors(_NAME):
            answer = self._cloudwatch.get_metric_statistics(
                Namespace="AWS/SQS",
                MetricName="ApproximateAgeOfOldestMessage",
                Dimensions=[{"Name": "QueueName", "Value": queue_url.rpartition("/")[2]}],
                StartTime=now - _LATELY,
                EndTime=now,
                Period=_MINUTE,
                Statistics=["Maximum"],
            )
        points = sorted(answer["Datapoints"], key=lambda point: point["Timestamp"])
        return float(points[-1]["Maximum"]) if points else None
