"""Monitoring data from CloudWatch, SNS and Lambda: alarms, concurrency."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from pillarbox.adapters.aws import client_of, make_client, operator_errors

_NAME: Final = "monitoring service"
#: The logical id in the template of the topic for all alarms.
_TOPIC: Final = "AlarmTopic"


class CloudWatchMonitoring:
    """Implements `use_cases.ports.StackMonitoring` for a CloudFormation stack."""

    _cloudwatch: Any = client_of("cloudwatch")
    _sns: Any = client_of("sns")

    def __init__(self, stack_name: str) -> None:
        self._stack_name = stack_name

    # No type stubs are installed for these services.

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
        with operator_errors(_NAME):
            limits = make_client("lambda").get_account_settings()["AccountLimit"]
        return int(limits["ConcurrentExecutions"])
