"""The relay of the local stack: from a mail program to the inbox and the history."""

import smtplib
import ssl
from email import policy
from email.message import EmailMessage
from typing import Any

import httpx
import pytest

from tests.stack import AGENT, PATIENCE, inbox, wait_for

pytestmark = pytest.mark.stack

SENDER = "hello@shop.example"


def connect(stack: dict[str, Any], key: str) -> smtplib.SMTP:
    smtp = stack["smtp"]
    client = smtplib.SMTP(smtp["host"], smtp["port"], timeout=PATIENCE)
    try:
        client.starttls(context=ssl.create_default_context(cafile=smtp["certificate"]))
        client.login("apikey", key)
    except smtplib.SMTPException:
        client.close()
        raise
    return client


def mail(subject: str, **fields: str) -> EmailMessage:
    message = EmailMessage(policy.SMTP)
    for name, value in ({"From": f"Shop <{SENDER}>", "Subject": subject} | fields).items():
        message[name] = value
    message.set_content("Hello")
    return message


def send(stack: dict[str, Any], message: EmailMessage, *recipients: str) -> str:
    """Send with the standard library and return the id in the 250."""
    with connect(stack, stack["keys"]["live"]) as client:
        client.mail(SENDER)
        for recipient in recipients:
            client.rcpt(recipient)
        code, text = client.data(message.as_bytes())
        assert code == 250, text
        return text.decode().rpartition(" ")[2]


def delivered(stack: dict[str, Any], message_id: str) -> tuple[dict[str, Any], bytes]:
    """Wait until a message is delivered; return its detail and what arrived."""
    url = f"{stack['base_url']}/api/v1/emails/{message_id}"
    headers = AGENT | {"X-API-Key": stack["keys"]["live"]}

    def look() -> Any:
        detail = httpx.get(url, headers=headers, timeout=PATIENCE).json()
        return detail["status"] == "delivered" and detail

    detail = wait_for(look)
    (item,) = inbox(stack, message_id)
    assert sorted(item["recipients"]) == sorted(detail["to"] + detail["cc"] + detail["bcc"])
    raw = f"{stack['inbox_url']}/messages/{item['id']}/raw"
    return detail, httpx.get(raw, timeout=PATIENCE).content


def as_sent(octets: bytes) -> tuple[bytes, bytes]:
    """Return the Message-ID of an email that arrived, and all but it and Date: SES writes both."""
    message_id, date, rest = octets.split(b"\r\n", 2)
    assert (message_id[:11], date[:5]) == (b"Message-ID:", b"Date:")
    return message_id.partition(b" ")[2], rest


def test_email_is_delivered_unchanged(stack: dict[str, Any]) -> None:
    """An email sent with smtplib arrives unchanged but for what SES writes anew."""
    message = mail("Over SMTP", To="ann@example.com", Cc="bob@example.com", Date="now")
    message["Message-ID"] = "<mine@shop.example>"
    message["X-SES-CONFIGURATION-SET"] = "evil"
    message_id = send(stack, message, "ann@example.com", "bob@example.com", "eve@example.com")
    detail, octets = delivered(stack, message_id)
    assert (detail["to"], detail["cc"], detail["bcc"]) == (
        ["ann@example.com"],
        ["bob@example.com"],
        ["eve@example.com"],
    )
    assert (detail["subject"], detail["fromName"]) == ("Over SMTP", "Shop")
    for name in ("X-SES-CONFIGURATION-SET", "Message-ID", "Date"):
        del message[name]
    wire_id, rest = as_sent(octets)
    (item,) = inbox(stack, message_id)
    assert wire_id == f"<{item['id']}@email.amazonses.com>".encode()
    assert wire_id.decode() == detail["messageIdHeader"]
    assert rest == message.as_bytes()


def test_large_email_goes_through_the_spool(stack: dict[str, Any]) -> None:
    """Two attachments of 5 MB arrive complete."""
    message = mail("Large over SMTP", To="ann@example.com", Date="now")
    message["Message-ID"] = "<large@shop.example>"
    for name in ("a.pdf", "b.pdf"):
        message.add_attachment(
            bytes(range(256)) * 20_480, maintype="application", subtype="pdf", filename=name
        )
    _, octets = delivered(stack, send(stack, message, "ann@example.com"))
    for name in ("Message-ID", "Date"):
        del message[name]
    assert as_sent(octets)[1] == message.as_bytes()
