"""What the policies of the queues for SES's events must be.

A queue has one policy. If CloudFormation moves a queue from one AWS::SQS::QueuePolicy to another,
it may remove the policy that the second one wrote, and does not notice.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pillarbox.application.operator.checks import Finding, Verdict

#: The queues by their names in the template, and what is lost if EventBridge cannot write to them.
QUEUES: Final[Mapping[str, str]] = {
    "EventsQueue": "the events of SES, so statuses and suppressions stop",
    "EventsDeadLetters": "the events of SES that it could not queue for 24 hours",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePolicy:
    """The policy of a queue."""

    #: The queue's name in the template.
    queue: str
    #: As SQS returns it; empty without a policy.
    found: str
    #: As template.yaml has it.
    required: Mapping[str, Any]

    @property
    def right(self) -> bool:
        """Whether the policy says what it must, in any form."""
        found = json.loads(self.found) if self.found else None
        same: bool = _normal(found) == _normal(self.required)
        return same


def required_policy(queue_arn: str, rule_names: Sequence[str]) -> dict[str, Any]:
    """Return the policy: TLS for everybody, and the stack's rules of EventBridge may write."""
    partition, _, region, account, _ = queue_arn.removeprefix("arn:").split(":")
    rules = f"arn:{partition}:events:{region}:{account}:rule"
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Deny",
                "Principal": "*",
                "Action": "sqs:*",
                "Resource": "*",
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            },
            {
                "Effect": "Allow",
                "Principal": {"Service": "events.amazonaws.com"},
                "Action": "sqs:SendMessage",
                "Resource": queue_arn,
                "Condition": {
                    "ArnEquals": {"aws:SourceArn": [f"{rules}/{name}" for name in rule_names]}
                },
            },
        ],
    }


def check_policies(policies: Mapping[str, QueuePolicy]) -> Iterator[Finding]:
    """Check whether EventBridge may write to the queues of events, and only with TLS."""
    for name, policy in policies.items():
        if policy.right:
            message = f"{name}: EventBridge may write to it, and only over TLS."
            yield Finding("policies", Verdict.PASS, message)
        else:
            state = "another policy than the template says" if policy.found else "no policy"
            message = f"{name} has {state}: EventBridge may lose {QUEUES[name]}."
            remedy = "Deploy again: `pillarbox deploy` writes the policy."
            yield Finding("policies", Verdict.FAIL, message, remedy)


def _normal(part: Any) -> Any:  # noqa: ANN401  any part of a policy
    """Return a policy in one form: no ids, no lists of one, statements in any order."""
    if isinstance(part, Mapping):
        content = {
            name: _normal(value) for name, value in part.items() if name not in {"Sid", "Id"}
        }
        if "Statement" in content:
            statements = content["Statement"]
            listed = statements if isinstance(statements, list) else [statements]
            content["Statement"] = sorted(listed, key=lambda item: json.dumps(item, sort_keys=True))
        if isinstance(action := content.get("Action"), str):
            content["Action"] = action.lower()
        return content
    if isinstance(part, list):
        return _normal(part[0]) if len(part) == 1 else [_normal(item) for item in part]
    return str(part).lower() if isinstance(part, bool) else part
