"""Subscriptions that wait for their confirmation, which moto does not have."""

from typing import Final

import pytest

from tests.integration.admin.aws_stubs import Stubs, stubs
from tests.integration.admin.documented_output import documented, readable
from tests.integration.admin.operator_command import Operator

__all__ = ["stubs"]

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
