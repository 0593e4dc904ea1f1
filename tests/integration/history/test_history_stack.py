"""The local stack end to end: send email, record its events, apply the stream, query it."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, islice
from typing import Any

import boto3
import httpx
import pytest

from tests.stack import AGENT, ROOT, operate, run_operator, wait_for

pytestmark = pytest.mark.stack

STATUSES = ("pending", "sent", "delivered", "bounced", "complained", "failed")
FINAL = {"delivered", "bounced", "complained", "failed"}
RECIPIENTS = ("ann@example.com", "bounce@simulator.amazonses.com", "bob@example.com")


def verify(account: str) -> tuple[int, Any]:
    """Verify the statistics of an account; return exit code and output."""
    completed = run_operator("stats", "verify", "--account", account)
    return completed.returncode, json.loads(completed.stdout or completed.stderr)


class Client:
    """A client of the API with a live key for a new account."""

    def __init__(self, stack: dict[str, Any]) -> None:
        made = operate("account", "create", "--name", "History", "--plan", "standard")
        self.account: str = made["id"]
        #: A bounce suppresses its address, so each is used once.
        self._numbers = count()
        address = f"post@{self.account}.example"
        operate("sender", "add", "--account", self.account, address, "--verified", "--default")
        key = operate("key", "create", "--account", self.account, "--name", "k", "--preset", "send")
        self._http = httpx.Client(
            base_url=f"{stack['base_url']}/api/v1",
            headers=AGENT | {"X-API-Key": key["key"]},
            timeout=60,
        )

    def send(self, most: int) -> None:
        for number in islice(self._numbers, most):
            body = {
                "to": RECIPIENTS[number % len(RECIPIENTS)].replace("@", f"+{number}@"),
                "starterTemplate": "otp",
                "variables": {"otp_code": "123456"},
            }
            assert self._http.post("/emails", json=body).status_code == 200

    def close(self) -> None:
        self._http.close()

    def list(self, **query: str | int) -> Any:
        response = self._http.get("/emails", params=query)
        assert response.status_code == 200, response.text
        return response.json()

    def analytics(self, **query: str) -> Any:
        response = self._http.get("/emails/analytics", params=query)
        assert response.status_code == 200, response.text
        return response.json()


@pytest.fixture(scope="module")
def client(stack: dict[str, Any]) -> Iterator[Client]:
    client = Client(stack)
    yield client
    client.close()


def test_the_history_of_sent_email_is_complete(client: Client) -> None:
    client.send(12)
    assert client.list()["total"] == 12
    wait_for(lambda: not {item["status"] for item in client.list()["items"]} - FINAL)
    wait_for(lambda: not verify(client.account)[1]["behind"])
    items = client.list()["items"]
    for status, sort_by in ((None, "status"), ("bounced", "updated_at")):
        query = {"sortBy": sort_by} | ({"status": status} if status else {})
        expected = [item for item in items if status in (None, item["status"])]
        expected.sort(key=lambda item: sort_key(item, sort_by), reverse=True)
        assert client.list(**query)["items"] == expected
    day = items[0]["createdAt"][:10]
    analytics = client.analytics(**{"from": f"{day}T00:00:00Z", "to": f"{day}T23:59:59.999Z"})
    listed = Counter(item["status"] for item in items)
    assert analytics["totalMessages"] == 12
    assert analytics["volume"][0]["bounced"] == listed["bounced"]
    assert analytics["volume"][0]["delivered"] == listed["delivered"]
    assert verify(client.account) == (
        0,
        {
            "accountId": client.account,
            "messages": 12,
            "right": True,
            "wrong": 0,
            "behind": 0,
            "repaired": 0,
        },
    )
    assert operate("stats", "rebuild", "--account", client.account)["right"] is True


@contextmanager
def failing_statistics(stack: dict[str, Any]) -> Iterator[None]:
    """Let every write of `aggregate_stats` fail: its role may only read."""
    environment = stack["environment"]
    iam = boto3.client(
        "iam",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        region_name=environment["AWS_REGION"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )
    (role,) = (
        role["RoleName"]
        for page in iam.get_paginator("list_roles").paginate()
        for role in page["Roles"]
        if "AggregateStats" in role["RoleName"]
    )
    (name,) = iam.list_role_policies(RoleName=role)["PolicyNames"]
    policy = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
    readable = json.loads(json.dumps(policy).replace("dynamodb:PutItem", "dynamodb:ListTables"))
    iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(readable))
    try:
        yield
    finally:
        iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(policy))


def test_statistics_are_right_after_batches_failed(stack: dict[str, Any], client: Client) -> None:
    log = ROOT / ".local" / "tests" / "engine.log"
    failed_before = log.read_text(errors="replace").count("BatchFailed")
    with failing_statistics(stack):
        client.send(6)
        wait_for(lambda: log.read_text(errors="replace").count("BatchFailed") > failed_before)
        wait_for(lambda: not {item["status"] for item in client.list()["items"]} - FINAL)
        assert verify(client.account)[1]["behind"] == 6
    wait_for(lambda: not verify(client.account)[1]["behind"])
    assert verify(client.account)[1]["right"] is True
    items = client.list()["items"]
    for status in STATUSES:
        expected = [item["messageId"] for item in items if item["status"] == status]
        listed = client.list(status=status)["items"]
        assert [item["messageId"] for item in listed] == expected


def sort_key(item: dict[str, Any], sort_by: str) -> tuple[str, ...]:
    last = (item["updatedAt"], item["messageId"])
    return (item["status"], *last) if sort_by == "status" else last
