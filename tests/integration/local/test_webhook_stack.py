"""Webhooks on the running local stack, from the email to a receiver of the inbox."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest
from standardwebhooks import Webhook

from tests.stack import AGENT, PATIENCE, inbox, raw, wait_for

pytestmark = pytest.mark.stack


class SeededReceiver:
    """The receiver of the seeded account's endpoint; other tests' webhooks arrive there too."""

    def __init__(self, stack: dict[str, Any], api: httpx.Client, inbox: httpx.Client) -> None:
        self.url: str = stack["webhook"]["url"]
        (self.secret,) = stack["webhook"]["secrets"]
        self.api = api
        self.inbox = inbox

    def send(self) -> str:
        """Send an email, and return its message id."""
        address = f"{uuid4().hex}@example.com"
        email = {"to": address, "subject": "Hello", "html": "<p>Hello</p>", "tags": {"order": "7"}}
        response = self.api.post("/emails", json=email)
        assert response.status_code == 200, response.text
        return str(response.json()["messageId"])

    def wait_for(self, **wanted: Any) -> dict[str, Any]:
        """Wait until the receiver has a webhook with these members, and return it."""
        query = {"receiver": "shop", "message": wanted["messageId"], "wait": "10"}

        def look() -> Any:
            items = self.inbox.get("/webhooks", params=query).json()["items"]
            return next((item for item in items if wanted.items() <= item.items()), None)

        found: dict[str, Any] = self.inbox.get(f"/webhooks/{wait_for(look)['id']}").json()
        return found

    def answer(self, mode: str) -> None:
        self.inbox.put("/hooks/shop/answer", json={"mode": mode}).raise_for_status()


@pytest.fixture
def receiver(stack: dict[str, Any]) -> Iterator[SeededReceiver]:
    key = {"X-API-Key": stack["keys"]["live"]}
    url = f"{stack['base_url']}/api/v1"
    with (
        httpx.Client(base_url=url, headers=AGENT | key, timeout=PATIENCE) as api,
        httpx.Client(base_url=stack["inbox_url"], timeout=PATIENCE) as inbox,
    ):
        yield SeededReceiver(stack, api, inbox)


def headers(webhook: dict[str, Any]) -> dict[str, str]:
    return {header["name"]: header["value"] for header in webhook["headers"]}


def test_an_email_reaches_the_receiver(receiver: SeededReceiver, stack: dict[str, Any]) -> None:
    message_id = receiver.send()
    sent = receiver.wait_for(messageId=message_id, type="email.sent")
    delivered = receiver.wait_for(messageId=message_id, type="email.delivered")
    assert (sent["signature"], delivered["signature"]) == ("valid", "valid")
    payload = Webhook(receiver.secret).verify(delivered["body"], headers(delivered))
    assert payload["type"] == "email.delivered"
    assert datetime.fromisoformat(payload["timestamp"]).tzinfo is not None
    assert payload["data"]["messageId"] == message_id
    assert payload["data"]["recipient"] == delivered["recipient"]
    assert payload["data"]["tags"] == {"order": "7"}
    (mail,) = inbox(stack, message_id)
    assert payload["data"]["messageIdHeader"] == raw(stack, mail)["Message-ID"]
    assert headers(delivered)["user-agent"] == "Pillarbox-Webhooks/1"
    assert headers(delivered)["webhook-id"] != headers(sent)["webhook-id"]


def test_a_failed_webhook_comes_again(receiver: SeededReceiver) -> None:
    receiver.answer("error")
    try:
        message_id = receiver.send()
        first = receiver.wait_for(messageId=message_id, type="email.sent")
    finally:
        receiver.answer("ok")
    second = receiver.wait_for(messageId=message_id, type="email.sent", status=204)
    assert (first["status"], first["attempt"], second["signature"]) == (500, 1, "valid")
    assert second["eventId"] == first["eventId"]
    assert second["attempt"] > 1
    first_at, second_at = (datetime.fromisoformat(each["receivedAt"]) for each in (first, second))
    # The wait varies by 20 %; a busy machine makes it longer.
    assert (second_at - first_at).total_seconds() >= 4
