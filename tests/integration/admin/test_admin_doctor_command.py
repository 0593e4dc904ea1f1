"""`pillarbox doctor` on the parts of a local stack."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from local.ses.store import MailStore
from local.ses.suppression import REASONS
from pillarbox.adapters.dynamodb.service_address import DynamoServiceAddress
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.wiring import utc_now
from tests.integration.admin.operator_command import Operator
from tests.integration.admin.stand_in_servers import Api
from tests.servers import serving


@pytest.fixture
def doctor_run(
    run: Operator, table: Table, mailbox: MailStore, tmp_path: Path
) -> Iterator[Operator]:
    """The command, on a stack with everything that the doctor checks."""
    state = json.loads((tmp_path / "stack.json").read_text())
    sqs = boto3.client("sqs")
    queues = ("JOBS", "EVENTS", "RECEIVED", "SWEEP", "WEBHOOKS")
    for name in (*queues, "URGENT_JOBS"):
        dead = f"{name.removeprefix('URGENT_').lower()}_dead_letters"
        sqs.create_queue(QueueName=dead)
        policy = {
            "deadLetterTargetArn": f"arn:aws:sqs:us-east-1:123456789012:{dead}",
            "maxReceiveCount": 3,
        }
        url = sqs.create_queue(
            QueueName=f"{name}_QUEUE".lower(), Attributes={"RedrivePolicy": json.dumps(policy)}
        )["QueueUrl"]
        state["environment"][f"PILLARBOX_{name}_QUEUE_URL"] = url
    state["environment"] |= {
        "PILLARBOX_CONFIGURATION_SET": "set",
        "PILLARBOX_PREVIEW_SENDER": "preview@shop.example",
    }
    mailbox.create_configuration_set("set").suppression.reasons = REASONS
    with serving(Api) as address:
        state["environment"]["PILLARBOX_API_URL"] = address
        DynamoServiceAddress(table, utc_now).store(address)
        (tmp_path / "stack.json").write_text(json.dumps(state))
        yield run


def verdicts(output: dict[str, Any]) -> dict[str, str]:
    return {item["check"]: item["verdict"] for item in output["items"]}


def test_a_healthy_local_stack(doctor_run: Operator) -> None:
    output = doctor_run("doctor")
    assert output["failed"] == 0
    skipped = {
        "clock",
        "rate",
        "plan",
        "functions",
        "domains",
        "policies",
        "receiving",
        "waiting",
        "table",
        "alarms",
        "relay",
        "mail",
    }
    assert verdicts(output) == dict.fromkeys(
        (
            *("address", "sending", "events", "suppression", "queues", "shards", "limits"),
            *("tenants", "strangers"),
        ),
        "pass",
    ) | dict.fromkeys(skipped, "skipped")
    assert all(item["message"] for item in output["items"])


def test_send_sends_a_test_email(doctor_run: Operator) -> None:
    account = doctor_run("account", "create", "--name", "Shop", "--plan", "standard")["id"]
    assert verdicts(doctor_run("doctor", "--send", "--account", account))["mail"] == "pass"
    (key,) = doctor_run("key", "list", "--account", account)["items"]
    assert key["revokedAt"] is not None


def test_a_failed_check_sets_the_exit_code(doctor_run: Operator, mailbox: MailStore) -> None:
    mailbox.configuration_sets.clear()
    failed = doctor_run.plain("--local", "--json", "doctor")
    assert (failed.exit_code, json.loads(failed.stdout)["failed"]) == (1, 1)
    shown = doctor_run.plain("--local", "doctor")
    assert shown.exit_code == 1
    assert "Deploy again" in shown.stdout


def test_a_missing_queue_does_not_stop_the_other_checks(doctor_run: Operator) -> None:
    sqs = boto3.client("sqs")
    sqs.delete_queue(QueueUrl=sqs.get_queue_url(QueueName="events_dead_letters")["QueueUrl"])
    shown = doctor_run.plain("--local", "--json", "doctor")
    output = json.loads(shown.stdout)
    assert (shown.exit_code, output["failed"]) == (1, 1)
    assert verdicts(output)["mail"] == "skipped"
    (queues,) = [item for item in output["items"] if item["check"] == "queues"]
    assert queues["message"].startswith("AWS refused GetQueueAttributes: ")


def test_the_error_names_a_missing_setting(run: Operator) -> None:
    assert run.refused("doctor") == (1, "service_unavailable")
    message = run.plain("--local", "doctor").stderr
    assert message.startswith("PILLARBOX_")
    assert "is not set" in message
