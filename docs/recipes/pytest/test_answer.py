"""Reads what a customer answers to a receipt."""

import json
from urllib.request import Request, urlopen

from pillarbox_testing import Pillarbox


def send_receipt(pillarbox: Pillarbox, address: str) -> None:
    """Stand in for your application, which sends an email that may be answered."""
    body = {
        "to": address,
        "subject": "Your order 1001",
        "html": "<p>Where shall we send it?</p>",
        "tags": {"order": "1001"},
        "replies": True,
    }
    headers = {"X-API-Key": pillarbox.key, "User-Agent": "shop/1.0"}
    request = Request(  # noqa: S310  the URL of the stack
        f"{pillarbox.url}/api/v1/emails",
        json.dumps(body).encode(),
        headers | {"Content-Type": "application/json"},
    )
    with urlopen(request):  # noqa: S310
        pass


def test_an_answer_leads_to_its_order(pillarbox: Pillarbox) -> None:
    """The answer comes without the quotation, and with the tags of the email."""
    address = pillarbox.address("ada")
    send_receipt(pillarbox, address)
    email = pillarbox.inbox.wait_for(to=address)
    webhook = pillarbox.webhooks.wait_for_reply(email, "To my office, please.")
    received = webhook.payload["data"]
    assert received["reply"] == "To my office, please."
    assert received["inReplyTo"]["tags"] == {"order": "1001"}
