"""The local stack end to end: send email, record its events, apply the stream, query it."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import httpx
import pytest

from tests.stack import AGENT, operate, run_operator

pytestmark = pytest.mark.stack

STATUSES = ("pending", "sent", "delivered", "bounced", "complained", "failed")
FINAL = {"delivered", "bounced", "complained", "failed"}
RECIPIENTS = ("ann@example.com", "bounce@simulator.amazonses.com", "bob@example.com")
#: The time limit in seconds, long enough for a slow machine.
TIME_LIMIT = 240


def verify(account: str) -> tuple[int, Any]:
    """Verify the statistics of an account; return exit code and output."""
    completed = run_operator("stats", "verify", "--account", account)
    return completed.returncode, json.loads(completed.stdout or completed.stderr)


class Client:
    """A client of the API with a live key for a new account."""

    def __init__(self, stack: dict[str, Any]) -> None:
        made = operate("account", "create", "--name", "History", "--plan", "standard")
        self.account: str = made["accountId"]
        address = f"post@{self.account}.example"
        operate("sender", "add", "--account", self.account, address, "--verified", "--default")
        key = operate("key", "create", "--account", self.account, "--name", "k", "--preset", "send")
        self._http = httpx.Client(
            base_url=f"{stack['base_url']}/api/v1",
            headers=AGENT | {"X-API-Key": key["key"]},
            timeout=60,
        )

    def send(self, count: int) -> None:
        for number in range(count):
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


@pytest.fixture
def client(stack: dict[str, Any]) -> Iterator[Client]:
    client = Client(stack)
    yield client
    client.close()


def test_the_history_of_sent_email_is_complete(client: Client) -> None:
    """Sends are listed at once; filters, orders, analytics and the audit agree with them."""
    client.send(12)
    assert client.list()["total"] == 12
    deadline = time.monotonic() + TIME_LIMIT
    while {item["status"] for item in client.list()["items"]} - FINAL:
        assert time.monotonic() < deadline, client.list()
        time.sleep(0.5)
    items = client.list()["items"]
    for status, sort_by in product((None, *STATUSES), ("created_at", "updated_at", "status")):
        query = {"sortBy": sort_by} | ({"status": status} if status else {})
        expected = [item for item in items if status in (None, item["status"])]
        expected.sort(key=lambda item: sort_key(item, sort_by), reverse=True)
        assert client.list(**query) == {
            "items": expected,
            "total": len(expected),
            "skip": 0,
            "limit": 50,
        }
        assert client.list(**query, skip=2, limit=3)["items"] == expected[2:5]
    day = items[0]["createdAt"][:10]
    analytics = client.analytics(**{"from": f"{day}T00:00:00Z", "to": f"{day}T23:59:59.999Z"})
    listed = Counter(item["status"] for item in items)
    assert analytics["totalMessages"] == 12
    assert analytics["volume"][0]["bounced"] == listed["bounced"]
    assert analytics["volume"][0]["delivered"] == listed["delivered"]
    while (report := verify(client.account))[1]["behind"]:
        assert time.monotonic() < deadline, report
        time.sleep(1)
    assert report == (
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


def sort_key(item: dict[str, Any], sort_by: str) -> tuple[str, ...]:
    match sort_by:
        case "created_at":
            return (item["createdAt"], item["messageId"])
        case "updated_at":
            return (item["updatedAt"], item["messageId"])
    return (item["status"], item["updatedAt"], item["messageId"])
