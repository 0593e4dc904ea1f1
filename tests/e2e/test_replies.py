"""The whole circle on a whole stack: an email, its answer, the webhook, and the next answer."""

import os
import smtplib
from collections.abc import Iterator
from email.message import EmailMessage
from typing import Any, Final

import httpx
import pytest

from tests.stack import AGENT, PATIENCE, inbox, operate, raw, wait_for

pytestmark = pytest.mark.stack

#: Each worker has an account of its own.
DOMAIN: Final = f"answers-{os.getpid()}.example"
SCOPES = (
    *("domains:read", "domains:write", "senders:write", "emails:send", "emails:read"),
    *("received:read", "webhooks:read", "webhooks:write"),
)


@pytest.fixture(scope="module")
def api(stack: dict[str, Any]) -> Iterator[httpx.Client]:
    """Return the API for an account whose domain receives answers."""
    account = operate("account", "create", "--name", "Answers", "--plan", "standard")["id"]
    made = operate(
        *("key", "create", "--account", account, "--name", "answers", "--preset", "custom"),
        *(f"--scope={scope}" for scope in SCOPES),
    )
    headers, url = AGENT | {"X-API-Key": made["key"]}, f"{stack['base_url']}/api/v1"
    with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE) as client:
        client.post("/domains", json={"domain": DOMAIN}).raise_for_status()
        wait_for(lambda: client.get(f"/domains/{DOMAIN}").json()["status"] == "verified")
        body = {"receive": "in", "receiveNames": ["support"]}
        changed = client.patch(f"/domains/{DOMAIN}", json=body).raise_for_status().json()
        assert changed["receives"] == f"in.{DOMAIN}"
        record = next(one for one in changed["records"] if one["purpose"] == "ANSWERS")
        assert record["value"] == "10 inbound-smtp.us-east-1.amazonaws.com"
        client.post("/senders", json={"address": f"post@{DOMAIN}"}).raise_for_status()
        hook = {"url": f"{stack['inbox_url']}/hooks/answers", "types": ["email.received"]}
        client.post("/webhooks", json=hook).raise_for_status()
        yield client


def send(api: httpx.Client, stack: dict[str, Any], **more: Any) -> tuple[str, EmailMessage]:
    """Send an email that asks for answers; return its id, and what its recipient gets."""
    body = {"to": "ada@customer.example", "subject": "Your order", "html": "<p>Where to?</p>"}
    message_id = api.post("/emails", json=body | more).raise_for_status().json()["messageId"]
    (item,) = wait_for(lambda: inbox(stack, message_id))
    return message_id, raw(stack, item)


def answers_to(api: httpx.Client, message_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get("/received", params={"inReplyTo": message_id}).json()[
        "items"
    ]
    return found


def deliver(stack: dict[str, Any], sent: EmailMessage, text: str, **fields: str) -> None:
    """Answer an email over SMTP, as its recipient's server does."""
    answer = EmailMessage()
    answer["From"], answer["To"] = "Ada <ada@customer.example>", sent["Reply-To"]
    answer["Subject"] = f"Re: {sent['Subject']}"
    answer["Message-ID"] = "<1@customer.example>"
    for name, value in fields.items():
        answer[name.replace("_", "-")] = value
    answer.set_content(f"{text}\n\nOn Mon, Nov 30, 2026 at 9:15 AM Shop wrote:\n\n> Where to?\n")
    with smtplib.SMTP(stack["mx"]["host"], stack["mx"]["port"]) as server:
        server.send_message(answer, "ada@customer.example", [sent["Reply-To"]])


def test_an_answer_comes_back_and_is_answered(api: httpx.Client, stack: dict[str, Any]) -> None:
    message_id, sent = send(api, stack, replies=True, tags={"order": "1001"})
    deliver(stack, sent, "To my office.")
    (item,) = wait_for(lambda: answers_to(api, message_id))
    assert item["inReplyTo"] == {
        "messageId": message_id,
        "tags": {"order": "1001"},
        "template": None,
    }
    assert item["authenticated"]
    received = api.get(f"/received/{item['receivedId']}").raise_for_status().json()
    assert received["reply"] == "To my office."
    hooks = f"{stack['inbox_url']}/webhooks"
    got = wait_for(lambda: httpx.get(hooks, params={"receiver": "answers"}).json()["items"])
    assert {one["type"] for one in got} == {"email.received"}

    url, headers = f"/received/{item['receivedId']}/reply", {"Idempotency-Key": "ticket-1"}
    first, second = (
        api.post(url, json={"text": "Done."}, headers=headers).raise_for_status().json()
        for _ in range(2)
    )
    assert first == second
    (answered,) = wait_for(lambda: inbox(stack, first["messageId"]))
    mail = raw(stack, answered)
    assert (mail["Subject"], mail["In-Reply-To"]) == ("Re: Your order", "<1@customer.example>")


def test_an_email_without_replies_has_no_token(api: httpx.Client, stack: dict[str, Any]) -> None:
    _, sent = send(api, stack)
    assert (sent["Reply-To"], sent["References"]) == (None, None)


def test_a_reply_to_of_the_caller_stays(api: httpx.Client, stack: dict[str, Any]) -> None:
    _, sent = send(api, stack, replies=True, replyTo=f"help@{DOMAIN}")
    assert sent["Reply-To"] == f"help@{DOMAIN}"
    assert sent["References"].endswith(f"@in.{DOMAIN}>")


def test_what_a_program_wrote_is_not_answered(api: httpx.Client, stack: dict[str, Any]) -> None:
    message_id, sent = send(api, stack, replies=True)
    deliver(stack, sent, "I am away.", Auto_Submitted="auto-replied")
    (item,) = wait_for(lambda: answers_to(api, message_id))
    assert item["automatic"] == "reply"
    response = api.post(f"/received/{item['receivedId']}/reply", json={"text": "Hello?"})
    assert response.status_code == 422


def test_an_address_that_no_rule_names_is_refused(stack: dict[str, Any]) -> None:
    with smtplib.SMTP(stack["mx"]["host"], stack["mx"]["port"]) as server:
        server.ehlo()
        server.mail("ada@customer.example")
        assert server.rcpt("x@in.other.example")[0] == 550
