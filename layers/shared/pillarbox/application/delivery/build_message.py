"""Build the message that the provider gets, from an accepted email."""

from email.utils import format_datetime

from pillarbox.application.delivery.message_id import message_id_header
from pillarbox.application.render import render
from pillarbox.domain.messages.mail import Mail, RawBody, TextBody
from pillarbox.domain.messages.message import Message
from pillarbox.mime.build import OutgoingMail, build
from pillarbox.mime.headers import field
from pillarbox.rendering.text import text_from_html


def build_raw(mail: Mail, message: Message, base_url: str = "") -> bytes:
    """Build the message of RFC 5322; every build of one message gives the same octets.

    `base_url` is the address of API and dashboard, for the link in test mails.
    """
    if isinstance(mail.body, RawBody):
        return _with_required_fields(mail.body, message)
    html = None
    if not isinstance(mail.body, TextBody):
        html = render(mail.body, base_url=base_url, sent_at=message.due_at)
    return build(
        OutgoingMail(
            message_id=message_id_header(message),
            date=message.due_at,
            sender=mail.sender,
            from_name=mail.from_name,
            to=mail.to,
            cc=mail.cc,
            names=mail.names,
            reply_to=mail.reply_to,
            subject=mail.subject,
            html=html,
            text=mail.text or text_from_html(html or ""),
            headers=mail.headers,
            attachments=mail.attachments,
        )
    )


def _with_required_fields(body: RawBody, message: Message) -> bytes:
    """Add Date and Message-ID at the top if they are missing (RFC 6409 sections 8.2 and 8.3)."""
    fields = b""
    if not body.has_date:
        fields += field("Date", [format_datetime(message.due_at)])
    if not body.has_message_id:
        fields += field("Message-ID", [message_id_header(message)])
    return fields + body.octets
