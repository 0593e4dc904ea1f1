"""`pillarbox doctor` on the local stack, as far as there is one here."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from local.ses.store import MailStore
from tests.integration.admin.address import api, serving
from tests.integration.admin.operated import Operator, refusal


@pytest.fixture
def whole(run: Operator, mailbox: MailStore, tmp_path: Path) -> Iterator[Operator]:
    """The command, with everything to look at."""
    state = json.loads((tmp_path / "stack.json").read_text())
    sqs = boto3.client("sqs")
    for name in ("JOBS_QUEUE", "JOBS_DEAD_LETTERS", "EVENTS_QUEUE", "EVENTS_DEAD_LETTERS"):
        url = sqs.create_queue(QueueName=name.lower())["QueueUrl"]
        state["environment"][f"PILLARBOX_{name}_URL"] = url
    state["environment"] |= {
        "PILLARBOX_CONFIGURATION_SET": "set",
        "PILLARBOX_PREVIEW_SENDER": "preview@shop.example",
    }
    mailbox.create_configuration_set("set")
    with serving(api()) as port:
        state["base_url"] = f"http://127.0.0.1:{port}"
        (tmp_path / "stack.json").write_text(json.dumps(state))
        yield run


def verdicts(found: dict[str, Any]) -> dict[str, str]:
    return {each["check"]: each["verdict"] for each in found["items"]}


def test_a_local_stack_that_is_well(whole: Operator) -> None:
    """What can be asked passes, the rest is skipped with its reason; nothing failed."""
    found = whole("doctor")
    assert found["failed"] == 0
    skipped = {
        "clock",
        "rate",
        "functions",
        "domains",
        "waiting",
        "table",
        "alarms",
        "relay",
        "mail",
    }
    assert verdicts(found) == dict.fromkeys(
        ("address", "sending", "events", "queues"), "pass"
    ) | dict.fromkeys(skipped, "skipped")
    assert all(each["message"] for each in found["items"])


def test_a_mail_is_sent_when_asked_for(whole: Operator) -> None:
    """With --send a mail goes round; its key is revoked."""
    account = whole("account", "create", "--name", "Shop", "--plan", "standard")["accountId"]
    assert verdicts(whole("doctor", "--send", "--account", account))["mail"] == "pass"
    (key,) = whole("key", "list", "--account", account)["items"]
    assert key["revokedAt"] is not None


def test_a_failure_is_told_by_the_exit_code(whole: Operator, mailbox: MailStore) -> None:
    """Programs get every finding all the same, people a table with the remedy."""
    mailbox.configuration_sets.clear()
    failed = whole.people("--local", "--json", "doctor")
    assert (failed.exit_code, json.loads(failed.stdout)["failed"]) == (1, 1)
    shown = whole.people("--local", "doctor")
    assert shown.exit_code == 1
    assert "Deploy again" in shown.stdout


def test_a_setting_that_is_not_there_is_named(run: Operator) -> None:
    """A stack of an older version does not say all that is needed."""
    assert refusal(lambda: run("doctor")) == (1, "service_unavailable")
    said = run.people("--local", "doctor").stderr
    assert said.startswith("PILLARBOX_")
    assert "is not set" in said
