"""`pillarbox alarms subscribe`, with moto in place of AWS."""

import json

import boto3
import pytest

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


def test_a_url_is_subscribed(topic: str) -> None:
    assert subscribe("https://ops.example/alarms")[0] == 0
    (subscription,) = boto3.client("sns").list_subscriptions_by_topic(TopicArn=topic)[
        "Subscriptions"
    ]
    assert subscription["Protocol"] == "https"


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
