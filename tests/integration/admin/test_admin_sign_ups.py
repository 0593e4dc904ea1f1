"""The commands `pillarbox signup …`."""

import json
import re
from pathlib import Path
from typing import Final

import boto3
import pytest

from pillarbox.adapters.dynamodb.sign_in.sign_ups import DynamoSignUps
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.domain.sign_in.sign_up import SignUpRequest, SignUpState
from pillarbox.wiring import utc_now
from tests.integration.admin.operator_command import Operator

_ADDRESS: Final = "ada@shop.example"


@pytest.fixture
def sign_ups(table: Table, credentials: Table, run: Operator, tmp_path: Path) -> DynamoSignUps:
    """The sign-ups of a stack with SignUp=approved, of which one waits."""
    assert run
    path = tmp_path / "stack.json"
    state = json.loads(path.read_text())
    state["environment"] |= {
        "PILLARBOX_SIGN_UP": "approved",
        "PILLARBOX_JOBS_QUEUE_URL": boto3.client("sqs").create_queue(QueueName="jobs")["QueueUrl"],
        "PILLARBOX_PREVIEW_SENDER": "service@pillarbox.example",
    }
    path.write_text(json.dumps(state))
    sign_ups = DynamoSignUps(credentials, table)
    request = SignUpRequest(
        user_id="u00000000001",
        address=_ADDRESS,
        state=SignUpState.PENDING,
        at=utc_now(),
        name="Acme",
    )
    assert sign_ups.put(request, None)
    return sign_ups


def test_a_request_is_listed_and_approved(run: Operator, sign_ups: DynamoSignUps) -> None:
    (waiting,) = run("signup", "list")["items"]
    assert (waiting["email"], waiting["name"], waiting["status"]) == (_ADDRESS, "Acme", "pending")
    approved = run("signup", "approve", _ADDRESS, "--plan", "standard")
    assert (approved["email"], approved["name"], approved["plan"]) == (_ADDRESS, "Acme", "standard")
    (owner,) = run("member", "list", "--account", approved["accountId"])["items"]
    assert (owner["email"], owner["role"]) == (_ADDRESS, "owner")
    assert run("signup", "list") == {"items": []}
    assert run.refused("signup", "approve", _ADDRESS) == (1, "validation_failed")
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName="jobs")["QueueUrl"]
    (job,) = sqs.receive_message(QueueUrl=url)["Messages"]
    assert _ADDRESS in job["Body"]
    assert sign_ups.get(_ADDRESS)


def test_a_request_is_refused(run: Operator, sign_ups: DynamoSignUps) -> None:
    refuse = ("signup", "refuse", _ADDRESS)
    assert run.refused(*refuse) == (2, "validation_failed")
    assert run(*refuse, "--yes")["status"] == "refused"
    assert run("signup", "list") == {"items": []}
    assert run.refused("signup", "refuse", "bob@shop.example", "--yes") == (1, "validation_failed")
    assert sign_ups.get("bob@shop.example") is None


def test_an_invitation_prints_a_link(run: Operator, sign_ups: DynamoSignUps) -> None:
    url = run("signup", "invite", "bob@shop.example")["url"]
    assert re.fullmatch("https://mail.example/app/sign-in#[0-9a-z]{32}", url)
    stored = sign_ups.get("bob@shop.example")
    assert stored
    assert stored.state is SignUpState.INVITED
