"""The first emails of a new user: curl, the operator's command, the inbox."""

import json
import subprocess
from typing import Any

import httpx
import pytest

from tests.stack import AGENT, PATIENCE, inbox, operate, raw, send_email, wait_for

pytestmark = pytest.mark.stack


def status(stack: dict[str, Any], key: str, message_id: str) -> dict[str, Any]:
    url = f"{stack['base_url']}/api/v1/emails/{message_id}"
    detail: dict[str, Any] = httpx.get(
        url, headers=AGENT | {"X-API-Key": key}, timeout=PATIENCE
    ).json()
    return detail


def test_an_email_sent_by_curl_is_delivered(stack: dict[str, Any]) -> None:
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
    account_id = operate("account", "create", "--name", by, "--plan", "standard")["id"]
    made = operate("key", "create", "--account", account_id, "--name", "a", "--preset", "send")
    sender, key = f"hello@{by}-of-bounces.example", made["key"]
    if by == "domain":
        assert operate("domain", "add", sender.partition("@")[2])["feedbackMail"] is False
    operate("sender", "add", "--account", account_id, sender, "--default")
    answer = send_email(stack, key, to=f"bounce+{by}@simulator.amazonses.com").json()
    assert answer["from"] == sender
    wait_for(lambda: status(stack, key, answer["messageId"])["status"] == "bounced")
    found = httpx.get(f"{stack['inbox_url']}/messages", params={"to": sender}, timeout=PATIENCE)
    assert found.json()["items"] == []
