"""`pillarbox capacity` reads the stack, the table and the quotas, and says what is too low."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from admin.aws import cloudwatch
from admin.main import app
from local import template
from pillarbox.adapters.ses.account import SesAccount
from tests.integration.admin.aws_stubs import Stubs

_DEFAULTS = {
    name: str(each.get("Default", "")) for name, each in template.load()["Parameters"].items()
}


def _stack() -> dict[str, Any]:
    return {
        "StackId": "arn:aws:cloudformation:eu-west-1:1:stack/mail/1",
        "StackName": "mail",
        "StackStatus": "UPDATE_COMPLETE",
        "CreationTime": datetime(2026, 1, 1, tzinfo=UTC),
        "Parameters": [
            {"ParameterKey": name, "ParameterValue": value} for name, value in _DEFAULTS.items()
        ],
        "Outputs": [{"OutputKey": "TableName", "OutputValue": "mail-table"}],
    }


@pytest.mark.parametrize(
    ("rate", "warm", "low"),
    [
        (14, {}, []),
        (400, {}, ["sending", "workers", "table"]),
        (400, {"WriteUnitsPerSecond": 6_000}, ["sending", "workers"]),
    ],
)
def test_capacity_says_what_is_too_low(
    stubs: Stubs,
    monkeypatch: pytest.MonkeyPatch,
    rate: int,
    warm: dict[str, int],
    low: list[str],
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setattr(cloudwatch, "make_client", stubs.client)
    sending = SimpleNamespace(max_rate=14.0)
    monkeypatch.setattr(SesAccount, "sending_status", lambda _: sending)
    stubs.answer("cloudformation", "describe_stacks", {"Stacks": [_stack()]})
    stubs.answer("dynamodb", "describe_table", {"Table": {"WarmThroughput": warm}})
    limits = {"AccountLimit": {"ConcurrentExecutions": 1_000}}
    stubs.answer("lambda", "get_account_settings", limits)
    result = CliRunner().invoke(
        app, ["--stack-name", "mail", "--json", "capacity", "--rate", str(rate)]
    )
    assert result.exit_code == bool(low)
    found = json.loads(result.stdout)["items"]
    assert [each["check"] for each in found if each["verdict"] == "fail"] == low
