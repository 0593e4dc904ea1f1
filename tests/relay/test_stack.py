"""The relay of the local stack: from a mail program to the inbox and the history."""

import json
import smtplib
import ssl
import time
import urllib.request
from email import policy
from email.message import EmailMessage
from typing import Any

import pytest

pytestmark = pytest.mark.stack

SENDER = "hello@shop.example"
#: Seconds to wait for a delivery on a busy machine.
PATIENCE = 60


def fetch(url: str, key: str = "") -> Any:
    request = urllib.request.Request(url, headers={"User-Agent": "tests/1", "X-API-Key": key})  # noqa: S310  the local stack
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310  the local stack
        return answer.read()


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


def delivered(stack: dict[str, Any], message_id: str) -> dict[str, Any]:
    """Wait until a message is delivered and return its detail."""
    deadline = time.monotonic() + PATIENCE
    while True:
        url = f"{stack['base_url']}/api/v1/emails/{message_id}"
        detail: dict[str, Any] = json.loads(fetch(url, stack["keys"]["live"]))
        if detail["status"] == "delivered":
            return detail
        assert time.monotonic() < deadline, detail
        time.sleep(0.2)


def raw(stack: dict[str, Any], subject: str) -> tuple[dict[str, Any], bytes]:
    items = json.loads(fetch(f"{stack['inbox_url']}/messages"))["items"]
    item = next(item for item in items if item["subject"] == subject)
    return item, fetch(f"{stack['inbox_url']}/messages/{item['id']}/raw")


def test_email_is_delivered_unchanged(stack: dict[str, Any]) -> None:
    """An email sent with smtplib arrives unchanged at all recipients and is in the history."""
    message = mail("Over SMTP", To="ann@example.com", Cc="bob@example.com", Date="now")
    message["Message-ID"] = "<mine@shop.example>"
    message["X-SES-CONFIGURATION-SET"] = "evil"
    message_id = send(stack, message, "ann@example.com", "bob@example.com", "eve@example.com")
    detail = delivered(stack, message_id)
    assert (detail["to"], detail["cc"], detail["bcc"]) == (
        ["ann@example.com"],
        ["bob@example.com"],
        ["eve@example.com"],
    )
    assert (detail["subject"], detail["fromName"]) == ("Over SMTP", "Shop")
    item, octets = raw(stack, "Over SMTP")
    assert sorted(item["recipients"]) == ["ann@example.com", "bob@example.com", "eve@example.com"]
    del message["X-SES-CONFIGURATION-SET"]
    assert octets == message.as_bytes()


def test_large_email_goes_through_the_spool(stack: dict[str, Any]) -> None:
    """Two attachments of 5 MB arrive complete."""
    message = mail("Large over SMTP", To="ann@example.com", Date="now")
    message["Message-ID"] = "<large@shop.example>"
    for name in ("a.pdf", "b.pdf"):
        message.add_attachment(
            bytes(range(256)) * 20_480, maintype="application", subtype="pdf", filename=name
        )
    delivered(stack, send(stack, message, "ann@example.com"))
    _, octets = raw(stack, "Large over SMTP")
    assert octets == message.as_bytes()


def test_refusals(stack: dict[str, Any]) -> None:
    """The stack's DNS, keys and accounts cause the expected refusals."""
    with connect(stack, stack["keys"]["live_free"]) as client:
        for recipient, code, status in (
            ("a@nomx.example", 550, b"5.1.2"),
            ("a@nullmx.example", 556, b"5.1.10"),
            ("a@x.invalid", 550, b"5.1.2"),
        ):
            with pytest.raises(smtplib.SMTPDataError) as refusal:
                client.sendmail(SENDER, [recipient], mail("Refused").as_bytes())
            assert refusal.value.smtp_code == code
            assert isinstance(refusal.value.smtp_error, bytes)
            assert refusal.value.smtp_error.startswith(status)
    with pytest.raises(smtplib.SMTPAuthenticationError) as failure:
        connect(stack, stack["keys"]["preview"])
    assert failure.value.smtp_code == 535
