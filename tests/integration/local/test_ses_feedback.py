"""Email feedback forwarding: SES mails bounces and complaints to the sender of a new identity."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from mypy_boto3_sesv2 import SESV2Client

from tests.integration.local.local_ses import RAW

Send = Callable[..., str]
SENDER = "post@sender.example"


def feedback(inbox: httpx.Client) -> list[dict[str, Any]]:
    """Return what SES sent to the sender."""
    items: list[dict[str, Any]] = inbox.get("/messages", params={"to": SENDER}).json()["items"]
    return items


@pytest.mark.parametrize(
    ("recipient", "subject"),
    [
        ("bounce@simulator.amazonses.com", "Delivery Status Notification (Failure)"),
        ("suppressionlist@simulator.amazonses.com", "Delivery Status Notification (Failure)"),
        ("complaint@simulator.amazonses.com", "Complaint Notification"),
        ("success@simulator.amazonses.com", None),
    ],
)
def test_a_sender_gets_feedback_by_mail(
    ses: SESV2Client, send: Send, inbox: httpx.Client, recipient: str, subject: str | None
) -> None:
    assert ses.get_email_identity(EmailIdentity="sender.example")["FeedbackForwardingStatus"]
    send(recipient)
    expected = [("MAILER-DAEMON@amazonses.com", subject)] if subject else []
    assert [(mail["from"], mail["subject"]) for mail in feedback(inbox)] == expected
    ses.put_email_identity_feedback_attributes(
        EmailIdentity="sender.example", EmailForwardingEnabled=False
    )
    assert not ses.get_email_identity(EmailIdentity="sender.example")["FeedbackForwardingStatus"]
    send(recipient)
    assert len(feedback(inbox)) == len(expected)


def test_an_address_has_a_setting_of_its_own(
    ses: SESV2Client, send: Send, inbox: httpx.Client
) -> None:
    ses.put_email_identity_feedback_attributes(
        EmailIdentity="sender.example", EmailForwardingEnabled=False
    )
    ses.create_email_identity(EmailIdentity=SENDER)
    send("bounce@simulator.amazonses.com")
    assert len(feedback(inbox)) == 1


def test_who_is_told_in_no_other_way_gets_the_mail(
    ses: SESV2Client, send: Send, inbox: httpx.Client
) -> None:
    ses.put_email_identity_feedback_attributes(
        EmailIdentity="sender.example", EmailForwardingEnabled=False
    )
    ses.create_configuration_set(ConfigurationSetName="silent")
    send("bounce@simulator.amazonses.com", ConfigurationSetName="silent")
    assert len(feedback(inbox)) == 1


def test_feedback_is_no_email_of_the_account(
    ses: SESV2Client, send: Send, inbox: httpx.Client
) -> None:
    send("bounce@simulator.amazonses.com")
    assert ses.get_account()["SendQuota"]["SentLast24Hours"] == 1
    raw = inbox.get(f"/messages/{feedback(inbox)[0]['id']}/raw").content
    assert b"text/rfc822-headers" in raw
    assert RAW.rpartition(b"\r\n\r\n")[2] not in raw
