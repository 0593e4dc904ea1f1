"""Emails that SES refused for good: the inbox keeps them apart, with the reason."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from tests.integration.local.local_ses import RAW, LocalSes
from tests.integration.local.test_inbox_api import events

Send = Callable[..., str]
REFUSED = {"refused": "true"}
CONTENT = "The message contains content that cannot be sent."


def refused(inbox: httpx.Client, **query: str) -> list[dict[str, Any]]:
    """Return what the inbox lists with the refused emails."""
    items: list[dict[str, Any]] = inbox.get("/messages", params=REFUSED | query).json()["items"]
    return items


def refuse(send: Send, inbox: httpx.Client, *to: str) -> None:
    """Send an email that SES refuses for its content."""
    inbox.put("/behaviour", json={"mode": "reject", "times": 1})
    with pytest.raises(ClientError):
        send(*to)


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("reject", CONTENT),
        ("mail-from", "The custom MAIL FROM domain is not verified."),
    ],
)
def test_a_refused_email_has_its_reason(
    send: Send, inbox: httpx.Client, mode: str, reason: str
) -> None:
    inbox.put("/behaviour", json={"mode": mode, "times": 1})
    with pytest.raises(ClientError):
        send("ada@example.com", "bob@example.com")
    (item,) = refused(inbox)
    assert item["subject"] == "Grüße"
    assert item["messageId"] == "0190f2c1-0000-7000-8000-000000000001"
    assert [(d["address"], d["outcome"], d["reason"]) for d in item["deliveries"]] == [
        ("ada@example.com", "refused", reason),
        ("bob@example.com", "refused", reason),
    ]
    assert inbox.get(f"/messages/{item['id']}").json()["text"] == "Hello\r\n"
    assert inbox.get("/messages").json()["items"] == []
    assert inbox.get("/messages/latest").status_code == 404


@pytest.mark.parametrize("mode", ["throttle", "quota", "pause", "suspend", "server-error"])
def test_a_passing_refusal_is_not_kept(send: Send, inbox: httpx.Client, mode: str) -> None:
    """What SES may accept later is no refused email: Pillarbox tries it again."""
    inbox.put("/behaviour", json={"mode": mode, "times": 1})
    with pytest.raises(ClientError):
        send()
    assert refused(inbox) == []


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        ({"raw": b"Subject: x\r\n\r\nno sender"}, "Missing required header 'From'."),
        ({"raw": b"\xff"}, "Missing required header 'From'."),
        ({"raw": b"From: b@sender.example\r\n" + RAW}, "Duplicate header 'From'."),
        ({"FromEmailAddress": "a@other.example"}, "Email address is not verified."),
        ({"ConfigurationSetName": "absent"}, "Configuration set <absent> does not exist."),
    ],
)
def test_an_email_of_a_wrong_form_is_kept(
    send: Send, inbox: httpx.Client, overrides: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ClientError):
        send(**overrides)
    (item,) = refused(inbox, to="ada@example.com")
    assert item["deliveries"][0]["reason"].startswith(reason)


def test_a_request_without_an_email_is_not_kept(send: Send, inbox: httpx.Client) -> None:
    for overrides in (
        {"raw": b"From: post@sender.example\r\n\r\n", "Destination": {}},
        {"Content": {"Simple": {"Subject": {"Data": "s"}, "Body": {}}}, "Destination": {}},
    ):
        with pytest.raises(ClientError):
            send(**overrides)
    assert refused(inbox) == []


def test_refused_emails_are_not_sent_ones(
    send: Send, inbox: httpx.Client, local_ses: LocalSes
) -> None:
    refuse(send, inbox)
    sent = send()
    records: list[Any] = local_ses.await_records(2)
    assert {record["mail"]["messageId"] for record in records} == {sent}
    assert local_ses.mailbox.sent_last_24_hours() == 1


def test_refused_emails_have_a_live_event_of_their_own(send: Send, inbox: httpx.Client) -> None:
    with inbox.stream("GET", "/events") as stream:
        lines = stream.iter_lines()
        told = events(lines)
        refuse(send, inbox)
        (item,) = refused(inbox)
        assert next(told) == ("refused", item)
        inbox.delete(f"/messages/{item['id']}")
        assert next(told) == ("deleted", {"id": item["id"]})


def test_after_selects_what_came_later(send: Send, inbox: httpx.Client) -> None:
    old = send()
    refuse(send, inbox)
    mark = refused(inbox)[0]["id"]
    new = send()
    later = inbox.get("/messages", params={"after": mark}).json()["items"]
    assert [item["id"] for item in later] == [new]
    assert [item["id"] for item in refused(inbox, after=old)] == [new, mark]
    assert inbox.get("/messages/latest", params={"after": new}).status_code == 404
    inbox.delete(f"/messages/{mark}")
    later = inbox.get("/messages", params={"after": mark}).json()["items"]
    assert [item["id"] for item in later] == [new]
