"""The local stack end to end: mail is sent, followed, aggregated from the stream, and looked at."""

import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.stack

ROOT = Path(__file__).parents[3]
STATUSES = ("pending", "sent", "delivered", "bounced", "complained", "failed")
FINAL = {"delivered", "bounced", "complained", "failed"}
RECIPIENTS = ("ann@example.com", "bounce@simulator.amazonses.com", "bob@example.com")
#: Seconds; a slow machine only takes longer.
PATIENCE = 240


def operate(*arguments: str) -> tuple[int, Any]:
    """Run the operator's command on the stack of the tests."""
    done = subprocess.run(
        [ROOT / ".venv" / "bin" / "pillarbox", "--local", "--json", *arguments],
        env={"PILLARBOX_STATE_DIR": str(ROOT / ".local" / "tests"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout or done.stderr)


class Client:
    """A client of the API with a live key of a new account."""

    def __init__(self, stack: dict[str, Any]) -> None:
        self.account = operate("account", "create", "--name", "History", "--plan", "standard")[1][
            "accountId"
        ]
        address = f"post@{self.account}.example"
        operate("sender", "add", "--account", self.account, address, "--verified", "--default")
        key = operate("key", "create", "--account", self.account, "--name", "k", "--preset", "send")
        self._http = httpx.Client(
            base_url=f"{stack['base_url']}/api/v1",
            headers={"User-Agent": "pillarbox-tests/1.0", "X-API-Key": key[1]["key"]},
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
        answer = self._http.get("/emails", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def analytics(self, **query: str) -> Any:
        answer = self._http.get("/emails/analytics", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def client(stack: dict[str, Any]) -> Iterator[Client]:
    client = Client(stack)
    yield client
    client.close()


def test_history_of_mail_that_was_really_sent(client: Client) -> None:
    """Own sends at once, every filter and order, figures, and an audit that finds all right."""
    client.send(12)
    assert client.list()["total"] == 12
    late = time.monotonic() + PATIENCE
    while {item["status"] for item in client.list()["items"]} - FINAL:
        assert time.monotonic() < late, client.list()
        time.sleep(0.5)
    items = client.list()["items"]
    for status, sort_by in product((None, *STATUSES), ("created_at", "updated_at", "status")):
        query = {"sortBy": sort_by} | ({"status": status} if status else {})
        expected = [item for item in items if status in (None, item["status"])]
        expected.sort(key=lambda item: order(item, sort_by), reverse=True)
        assert client.list(**query) == {
            "items": expected,
            "total": len(expected),
            "skip": 0,
            "limit": 50,
        }
        assert client.list(**query, skip=2, limit=3)["items"] == expected[2:5]
    day = items[0]["createdAt"][:10]
    figures = client.analytics(**{"from": f"{day}T00:00:00Z", "to": f"{day}T23:59:59.999Z"})
    shown = Counter(item["status"] for item in items)
    assert figures["totalMessages"] == 12
    assert figures["volume"][0]["bounced"] == shown["bounced"]
    assert figures["volume"][0]["delivered"] == shown["delivered"]
    while (found := operate("stats", "verify", "--account", client.account))[1]["behind"]:
        assert time.monotonic() < late, found
        time.sleep(1)
    assert found == (
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
    assert operate("stats", "rebuild", "--account", client.account)[1]["right"] is True


def order(item: dict[str, Any], sort_by: str) -> tuple[str, ...]:
    match sort_by:
        case "created_at":
            return (item["createdAt"], item["messageId"])
        case "updated_at":
            return (item["updatedAt"], item["messageId"])
    return (item["status"], item["updatedAt"], item["messageId"])
