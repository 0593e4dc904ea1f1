"""Email feedback forwarding: SES mails bounces and complaints to the sender.

It is on for a new identity (API reference, PutEmailIdentityFeedbackAttributes; developer guide,
monitor-sending-activity-using-notifications-email, both read on 2026-11-28).
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.message import EmailMessage
from typing import Final
from uuid import uuid4

from local.ses.headers import header_fields
from local.ses.mail import CapturedMail, Destination, Outcome

DAEMON: Final = "MAILER-DAEMON@amazonses.com"
_SUBJECTS: Final[Mapping[Outcome, str]] = {
    "bounced": "Delivery Status Notification (Failure)",
    "bounced for now": "Delivery Status Notification (Failure)",
    "auto-replied": "Delivery Status Notification (Failure)",
    "globally suppressed": "Delivery Status Notification (Failure)",
    "suppressed": "Delivery Status Notification (Failure)",
    "complained": "Complaint Notification",
    "suppressed after complaint": "Complaint Notification",
}


def feedback_id(mail: CapturedMail) -> str:
    """Return the id of SES's reports about an email."""
    return f"{mail.id.removesuffix('-000000')}-feedback-000000"


def forwarded(mail: CapturedMail) -> Iterator[CapturedMail]:
    """Yield the emails that SES sends to the sender: one for each bounce and each complaint."""
    for recipient, outcome in mail.outcomes.items():
        if subject := _SUBJECTS.get(outcome):
            yield _notice(mail, recipient, subject)


def _notice(mail: CapturedMail, recipient: str, subject: str) -> CapturedMail:
    notice = EmailMessage()
    notice["From"], notice["To"], notice["Subject"] = DAEMON, mail.source, subject
    notice.set_content(f"About your email to {recipient}.\n")
    head = mail.raw.partition(b"\n\n")[0].partition(b"\r\n\r\n")[0]
    notice.add_attachment(head, maintype="text", subtype="rfc822-headers")
    raw = notice.as_bytes()
    return CapturedMail(
        id=f"feedback-{uuid4()}",
        source=DAEMON,
        destination=Destination(to=(mail.source,)),
        configuration_set=None,
        tags={},
        headers=header_fields(raw),
        from_header=DAEMON,
        subject=subject,
        raw=raw,
        outcomes={mail.source: "delivered"},
        received_at=datetime.now(UTC),
    )
