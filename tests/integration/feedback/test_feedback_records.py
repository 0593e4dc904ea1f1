"""Every type and subtype of event that SES documents, as whole records, on the real handlers."""

import pytest

from tests.contract.client import Api
from tests.contract.conftest import dns_server, service
from tests.contract.service import Service
from tests.integration.feedback.ses_records import records

__all__ = ["dns_server", "service"]

type Effect = tuple[str, str | None, str | None, bool]


def _transient(code: str) -> Effect:
    return "bounced", "bounced_transient", code, False


def _permanent(code: str) -> Effect:
    return "bounced", "bounced", code, True


_UNSENT: Effect = ("failed", "failed", "suppressed_by_ses", False)
#: By record: the status it leads to from `sent`, the event's type and code, and whether the
#: address is suppressed after it.
EXPECTED: dict[str, Effect] = {
    "send": ("sent", "sent", None, False),
    "delivery": ("delivered", "delivered", None, False),
    "reject": ("failed", "failed", "rejected", False),
    "rendering_failure": ("failed", "failed", "rendering_failed", False),
    "bounce_permanent_general": _permanent("mailbox_unknown"),
    "bounce_permanent_no_email": _permanent("mailbox_unknown"),
    "bounce_permanent_suppressed": _UNSENT,
    "bounce_permanent_on_account_suppression_list": _UNSENT,
    "bounce_permanent_on_tenant_suppression_list": _UNSENT,
    "bounce_permanent_unsubscribed_recipient": _permanent("unsubscribed_recipient"),
    "bounce_transient_general": _transient("general"),
    "bounce_transient_mailbox_full": _transient("mailbox_full"),
    "bounce_transient_message_too_large": _transient("message_too_large"),
    "bounce_transient_custom_timeout_exceeded": _transient("custom_timeout_exceeded"),
    "bounce_transient_content_rejected": _transient("policy_refused"),
    "bounce_transient_attachment_rejected": _transient("attachment_rejected"),
    "bounce_undetermined": _transient("undetermined"),
    "complaint_abuse": ("complained", "complained", "abuse", True),
    "complaint_not_spam": ("sent", None, None, False),
    "complaint_auth_failure": ("complained", "complained", "auth_failure", True),
    "complaint_without_feedback": ("complained", "complained", "complaint", True),
    "complaint_on_account_suppression_list": _UNSENT,
    "delivery_delay": ("sent", "delayed", "transient_communication_failure", False),
    "open": ("sent", None, None, False),
    "click": ("sent", None, None, False),
    "subscription": ("sent", None, None, False),
}


def test_every_documented_record_has_a_row() -> None:
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
