"""The policies of the queues for SES's events, compared with the template."""

import json
from typing import Any

import pytest

from admin.use_cases.queue_policies import QUEUES, QueuePolicy, required_policy
from local import template

QUEUE = "arn:aws:sqs:eu-west-1:123456789012:pillarbox-EventsDeadLetters-1"
RULES = "arn:aws:events:eu-west-1:123456789012:rule"
NAMES = ("EventsRule", "TenantsRule")
REQUIRED = required_policy(QUEUE, NAMES)


def policy(found: Any) -> QueuePolicy:
    text = found if isinstance(found, str) else json.dumps(found)
    return QueuePolicy(queue="EventsDeadLetters", found=text, required=REQUIRED)


@pytest.mark.parametrize("name", QUEUES)
def test_the_policy_is_that_of_the_template(name: str) -> None:
    """The doctor compares with, and `deploy` writes, what CloudFormation wrote at first."""
    resources = template.load()["Resources"]
    (document,) = (
        resource["Properties"]["PolicyDocument"]
        for resource in resources.values()
        if resource["Type"] == "AWS::SQS::QueuePolicy"
        and {"Ref": name} in resource["Properties"]["Queues"]
    )
    text = json.dumps(document)
    for function, value in (
        ({"Fn::GetAtt": [name, "Arn"]}, QUEUE),
        *(({"Fn::GetAtt": [rule, "Arn"]}, f"{RULES}/{rule}") for rule in NAMES),
    ):
        text = text.replace(json.dumps(function), json.dumps(value))
    assert json.loads(text) == REQUIRED


def test_the_form_of_a_policy_does_not_matter() -> None:
    """SQS may return ids, lists of one, and actions in capitals; the order says nothing."""
    tls, allow = REQUIRED["Statement"]
    allow = allow | {"Sid": "events", "Action": ["SQS:SendMessage"], "Resource": [QUEUE]}
    assert policy(REQUIRED).right
    assert policy({"Version": "2012-10-17", "Id": "x", "Statement": [allow, tls]}).right


def test_a_policy_that_says_something_else_is_wrong() -> None:
    tls, allow = REQUIRED["Statement"]
    other = allow | {"Condition": {"ArnEquals": {"aws:SourceArn": f"{RULES}/{NAMES[0]}"}}}
    assert not policy("").right
    for statements in ([tls], [allow], tls, [tls, allow, other], [tls, other]):
        assert not policy({"Version": "2012-10-17", "Statement": statements}).right
