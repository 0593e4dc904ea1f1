"""`pillarbox alarms subscribe`, with moto in place of AWS."""

import json
from typing import Final

import boto3
import pytest

from tests.integration.admin.aws_stubs import Stubs
from tests.integration.admin.documented_output import documented, readable
from tests.integration.admin.operator_command import Operator


def subscribe(address: str, *options: str) -> tuple[int, str, str]:
    command = ("--stack-name", "pillarbox-dev", *options, "alarms", "subscribe", address)
    result = Operator().plain(*command)
    return result.exit_code, result.stdout, result.stderr


def test_an_address_is_subscribed_once(topic: str) -> None:
    """A second run finds the subscription, which moto confirms at once."""
    for _ in range(2):
        code, output, error = subscribe("ops@shop.example", "--json")
        assert (code, error) == (0, "")
        assert json.loads(output)["status"] == "confirmed"
    (subscription,) = boto3.client("sns").list_subscriptions_by_topic(TopicArn=topic)[
        "Subscriptions"
    ]
    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "ops@shop.example")


@pytest.mark.usefixtures("topic")
@pytest.mark.parametrize("address", ["ops", "ops@", "@shop.example", "a@b c.d", "http://x.example"])
def test_what_cannot_be_subscribed_is_refused(address: str) -> None:
    code, _, error = subscribe(address)
    assert code == 1
    assert error.startswith("ADDRESS: must be an email address or an https: URL.")


@pytest.mark.usefixtures("table")
def test_a_stack_without_a_topic_is_not_deployed() -> None:
    assert subscribe("ops@shop.example")[2].startswith("There is no stack pillarbox-dev")
    boto3.client("cloudformation").create_stack(
        StackName="pillarbox-dev",
        TemplateBody=json.dumps({"Resources": {"Other": {"Type": "AWS::SNS::Topic"}}}),
    )
    assert subscribe("ops@shop.example")[2].startswith("The stack has no topic for alarms.")


TOPIC: Final = "arn:aws:sns:eu-west-1:123456789012:pillarbox-dev-AlarmTopic-1"


@pytest.mark.parametrize("listed", [[], [{"SubscriptionArn": "PendingConfirmation"}]])
def test_the_owner_confirms(stubs: Stubs, listed: list[dict[str, str]]) -> None:
    stubs.stack("pillarbox-dev")
    stubs.resources({"AlarmTopic": TOPIC})
    found = [{"Endpoint": "ops@shop.example", **subscription} for subscription in listed]
    stubs.answer(
        "sns", "list_subscriptions_by_topic", {"Subscriptions": found}, {"TopicArn": TOPIC}
    )
    stubs.answer(
        "sns",
        "subscribe",
        {"SubscriptionArn": "pending confirmation"},
        {"TopicArn": TOPIC, "Protocol": "email", "Endpoint": "ops@shop.example"},
    )
    command = "alarms subscribe ops@shop.example"
    result = Operator().plain("--stack-name", "pillarbox-dev", *command.split())
    assert (result.exit_code, readable(result.output)) == (0, documented(command))
