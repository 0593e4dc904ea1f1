"""The first emails of a new user: curl, the operator's command, the inbox."""

import json
import subprocess
from typing import Any

import httpx
import pytest

from tests.stack import AGENT, PATIENCE, inbox, operate, raw, wait_for

pytestmark = pytest.mark.stack


def status(stack: dict[str, Any], key: str, message_id: str) -> dict[str, Any]:
    url = f"{stack['base_url']}/api/v1/emails/{message_id}"
    detail: dict[str, Any] = httpx.get(
        url, headers=AGENT | {"X-API-Key": key}, timeout=PATIENCE
    ).json()
    return detail


def test_an_email_sent_by_curl_is_delivered(stack: dict[str, Any]) -> None:
    """An email goes from curl through the whole service to the inbox, and its status follows."""
    body = {
        "to": "ada@customer.example",
        "bcc": ["audit@customer.example"],
        "starterTemplate": "welcome",
        "fromName": "Zoë",
        "variables": {"name": "Ada <3"},
    }
    sent = subprocess.run(
        [
            *("curl", "--silent", "--fail-with-body", f"{stack['base_url']}/api/v1/emails"),
            *("-H", f"X-API-Key: {stack['keys']['live']}"),
            *("-H", "Content-Type: application/json", "-d", json.dumps(body)),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(sent.stdout)
    assert answer["status"] == "queued"
    message_id, key = answer["messageId"], stack["keys"]["live"]
    wait_for(lambda: status(stack, key, message_id)["status"] == "delivered")
    detail = status(stack, key, message_id)
    assert detail["recipientEmail"] == "ada@customer.example"
    assert [event["type"] for event in detail["events"]][:2] == ["accepted", "sent"]
    (item,) = inbox(stack, message_id)
    assert item["recipients"] == ["ada@customer.example", "audit@customer.example"]
    mail = raw(stack, item)
    assert mail["From"].addresses[0].display_name == "Zoë"
    assert mail["To"].addresses[0].addr_spec == "ada@customer.example"
    assert mail["Bcc"] is None
    wire_id = f"<{item['id']}@email.amazonses.com>"  # SES writes its own
    assert mail["Message-ID"] == detail["messageIdHeader"] == wire_id
    html = mail.get_body(("html",))
    text = mail.get_body(("plain",))
    assert html is not None
    assert text is not None
    assert "Ada &lt;3" in html.get_content()
    assert "Ada <3" in text.get_content()


@pytest.mark.parametrize("by", ["address", "domain"])
def test_a_sender_gets_no_bounces_by_mail(stack: dict[str, Any], by: str) -> None:
    """Its status and events say that an email bounced; SES mails nothing to its address."""
    account_id = operate("account", "create", "--name", by, "--plan", "standard")["id"]
    made = operate("key", "create", "--account", account_id, "--name", "a", "--preset", "send")
    sender, key = f"hello@{by}-of-bounces.example", made["key"]
    if by == "domain":
        assert operate("domain", "add", sender.partition("@")[2])["feedbackMail"] is False
    operate("sender", "add", "--account", account_id, sender, "--default")
    url, headers = f"{stack['base_url']}/api/v1/emails", AGENT | {"X-API-Key": key}
    body = {"to": f"bounce+{by}@simulator.amazonses.com", "html": "<p>Hi</p>", "subject": "Hi"}
    answer = httpx.post(url, json=body, headers=headers, timeout=PATIENCE).json()
    assert answer["from"] == sender
    wait_for(lambda: status(stack, key, answer["messageId"])["status"] == "bounced")
    found = httpx.get(f"{stack['inbox_url']}/messages", params={"to": sender}, timeout=PATIENCE)
    assert found.json()["items"] == []


def test_an_operator_creates_an_account_that_sends(stack: dict[str, Any]) -> None:
    """A new account, sender and key work at once, and a revoked key stops working at once."""
    account = operate("account", "create", "--name", "Acme", "--plan", "standard")
    account_id = account["id"]
    sender = "billing@acme.example"
    operate("sender", "add", "--account", account_id, sender, "--verified", "--default")
    made = operate("key", "create", "--account", account_id, "--name", "web", "--preset", "send")
    url, headers = f"{stack['base_url']}/api/v1/emails", AGENT | {"X-API-Key": made["key"]}
    body = {"to": "ada@customer.example", "html": "<p>Hi</p>", "subject": "Hi"}
    answer = httpx.post(url, json=body, headers=headers, timeout=PATIENCE)
    assert answer.json()["from"] == sender
    wait_for(lambda: inbox(stack, answer.json()["messageId"]))
    operate("key", "revoke", made["id"])
    refused = httpx.post(url, json=body, headers=headers, timeout=PATIENCE)
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_api_key")


def test_a_bounce_suppresses_the_address(stack: dict[str, Any]) -> None:
    url, key = f"{stack['base_url']}/api/v1/emails", stack["keys"]["live_free"]
    headers = AGENT | {"X-API-Key": key}
    to = "bounce+e2e@simulator.amazonses.com"
    body = {"to": to, "html": "<p>Hi</p>", "subject": "Hi"}
    message_id = httpx.post(url, json=body, headers=headers, timeout=PATIENCE).json()["messageId"]
    wait_for(lambda: status(stack, key, message_id)["status"] == "bounced")
    assert status(stack, key, message_id)["errorMessage"]

    def refused() -> bool:
        answer = httpx.post(url, json=body | {"to": to.upper()}, headers=headers, timeout=PATIENCE)
        return answer.status_code == 400 and answer.json()["error"]["code"] == (
            "recipient_suppressed"
        )

    wait_for(refused)


@pytest.mark.parametrize(
    ("path", "agent", "expected"),
    [
        ("/api/v1/emails", "Python-urllib/3.13", (403, "client_blocked")),
        ("/api/v1/emails", "", (403, "client_blocked")),
        ("/api/v1/v1/emails", "app/1", (401, "missing_api_key")),
        ("/api/v1/emails", "app/1", (401, "missing_api_key")),
        ("/api/v1/nothing", "app/1", (404, "route_not_found")),
        ("/nothing", "app/1", (404, "route_not_found")),
        ("/api/v1/starter-templates", "app/1", (405, "method_not_allowed")),
    ],
)
def test_every_error_has_the_envelope(
    stack: dict[str, Any], path: str, agent: str, expected: tuple[int, str]
) -> None:
    """Errors of firewall, gateway and functions have the contract's JSON and a request id."""
    answer = httpx.post(
        stack["base_url"] + path, json={}, headers={"User-Agent": agent}, timeout=PATIENCE
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == expected
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"]
    assert ("allow" in answer.headers) == (expected[0] == 405)
