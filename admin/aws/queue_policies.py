"""The policies of the queues for SES's events."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from admin.aws import stacks
from admin.use_cases.queue_policies import QUEUES, QueuePolicy, required_policy
from pillarbox.adapters.aws import client_of, operator_errors

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_NAME: Final = "queues"
#: The logical ids in the template of the rules that write to the queues.
_RULES: Final = ("EventsRule", "TenantsRule")


class SqsQueuePolicies:
    """The policies of a CloudFormation stack."""

    _sqs: "SQSClient" = client_of("sqs")

    def __init__(self, stack_name: str) -> None:
        self._stack_name = stack_name

    @cached_property
    def _resources(self) -> Mapping[str, str]:
        with operator_errors(_NAME):
            return stacks.resources(self._stack_name)

    def read(self) -> Mapping[str, QueuePolicy]:
        """Return each policy by the queue's name in the template."""
        return {name: self._read(name) for name in QUEUES}

    def repair(self) -> list[str]:
        """Write each policy that is not as it must be, and return the names of the queues."""
        wrong = [policy for policy in self.read().values() if not policy.right]
        for policy in wrong:
            with operator_errors(_NAME):
                self._sqs.set_queue_attributes(
                    QueueUrl=self._resources[policy.queue],
                    Attributes={"Policy": json.dumps(policy.required)},
                )
        return [policy.queue for policy in wrong]

    def _read(self, queue: str) -> QueuePolicy:
        with operator_errors(_NAME):
            answer = self._sqs.get_queue_attributes(
                QueueUrl=self._resources[queue], AttributeNames=["Policy", "QueueArn"]
            )
        attributes = answer["Attributes"]
        return QueuePolicy(
            queue=queue,
            found=attributes.get("Policy", ""),
            required=required_policy(
                attributes["QueueArn"], [self._resources[name] for name in _RULES]
            ),
        )
