"""Every type and subtype of event that SES documents, as whole records, on the real handlers."""

import pytest

from tests.contract.client import Api
from tests.contract.conftest import dns_server, service
from tests.contract.service import Service
from tests.integration.feedback.ses_records import records

__all__ = ["dns_server", "service"]

#: By record: the status it leads to from `sent`, the event's type and code, and whether the
#: address is suppressed after it.
EXPECTED = {
    "send": ("sent", "sent", None, False),
    "delivery": ("delivered", "delivered", None, False),
    "reject": ("failed", "failed", "rejected", False),
    "rendering_failure": ("failed", "failed", "rendering_failed", False),
    "bounce_permanent_general": ("bounced", "bounced", "general", True),
    "bounce_permanent_no_email": ("bounced", "bounced", "no_email", True),
    "bounce_permanent_suppressed": ("bounced", "bounced", "suppressed", True),
    "bounce_permanent_on_account_suppression_list": (
        "bounced",
        "bounced",
        "on_account_suppression_list",
        False,
    ),
    "bounce_permanent_unsubscribed_recipient": (
        "bounced",
        "bounced",
        "unsubscribed_recipient",
        True,
    ),
    "bounce_transient_general": ("bounced", "bounced_transient", "general", False),
    "bounce_transient_mailbox_full": ("bounced", "bounced_transient", "mailbox_full", False),
    "bounce_transient_message_too_large": (
        "bounced",
        "bounced_transient",
        "message_too_large",
        False,
    ),
    "bounce_transient_custom_timeout_exceeded": (
        "bounced",
        "bounced_transient",
        "custom_timeout_exceeded",
        False,
    ),
    "bounce_transient_content_rejected": (
        "bounced",
        "bounced_transient",
        "content_rejected",
        False,
    ),
    "bounce_transient_attachment_rejected": (
        "bounced",
        "bounced_transient",
        "attachment_rejected",
        False,
    ),
    "bounce_undetermined": ("bounced", "bounced_transient", "undetermined", False),
    "complaint_abuse": ("complained", "complained", "abuse", True),
    "complaint_not_spam": ("sent", None, None, False),
    "complaint_auth_failure": ("complained", "complained", "auth_failure", True),
    "complaint_without_feedback": ("complained", "complained", "complaint", True),
    "complaint_on_account_suppression_list": ("complained", "complained", "complaint", False),
    "delivery_delay": ("sent", "delayed", "transient_communication_failure", False),
    "open": ("sent", None, None, False),
    "click": ("sent", None, None, False),
    "subscription": ("sent", None, None, False),
}


def test_every_documented_record_has_a_row() -> None:
    """The table of effects names every record, and no other."""
    assert set(records("account", "message")) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_record_has_its_effect(service: Service, name: str) -> None:
    """Status, event in the message detail, suppression; twice is the same as once."""
    status, kind, code, suppressed = EXPECTED[name]
    account = service.account()
    client = Api(service.key(account))
    mail = {"to": "ann@example.com", "html": "<p>x</p>", "subject": "x"}
    message = client.send(mail).json["messageId"]
    assert service.deliver() == []
    record = records(account, message)[name]
    assert service.report(record) == []
    once = client.get(message).json
    assert service.report(record, record) == []
    assert client.get(message).json == once
    assert once["status"] == status
    told = [(event["type"], event.get("code")) for event in once["events"]]
    assert kind is None or (kind, code) in told
    again = client.send(mail)
    assert (again.code == "recipient_suppressed") == suppressed
    service.deliver()
