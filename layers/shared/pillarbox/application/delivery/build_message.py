"""Build the message that SES gets, and keep its content after the hand-over."""

from collections.abc import Callable
from email.utils import format_datetime

from pillarbox.application.render import render, to_text
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.messages.mail import Mail, RawBody, TextBody
from pillarbox.domain.messages.message import Message
from pillarbox.mime.build import OutgoingMail, build
from pillarbox.mime.headers import field


def build_raw(mail: Mail, message: Message, base_url: str = "") -> bytes:
    """Build the message of RFC 5322; every build of one message gives the same octets.

    SES adds the Message-ID. A missing Date is added (RFC 6409 section 8.2), so that the kept
    content has one; SES replaces it.
    `base_url` is the address of API and dashboard, for the link in test mails.
    """
    if isinstance(mail.body, RawBody):
        if mail.body.has_date:
            return mail.body.octets
        return field("Date", [format_datetime(message.due_at)]) + mail.body.octets
    html = None
    if not isinstance(mail.body, TextBody):
        html = render(mail.body, base_url=base_url, sent_at=message.due_at)
    return build(
        OutgoingMail(
            message_id=message.message_id,
            date=message.due_at,
            sender=mail.sender,
            from_name=mail.from_name,
            to=mail.to,
            cc=mail.cc,
            names=mail.names,
            reply_to=mail.reply_to,
            subject=mail.subject,
            html=html,
            text=mail.text or to_text(html or ""),
            headers=mail.headers,
            attachments=mail.attachments,
        )
    )


def keeping(write: Callable[[Message, bytes], None]) -> Callable[[Message, bytes], str | None]:
    """Return what keeps a message that needs it, and returns why that failed, for the log."""

    def keep(message: Message, raw: bytes) -> str | None:
        if not message.keep or message.unkept or message.is_erased:
            return None
        try:
            write(message, raw)
        except Exception as error:  # noqa: BLE001  the message is sent all the same; the caller logs it
            said = error.aws_error if isinstance(error, Unavailable) else None
            return said or type(error).__name__
        return None

    return keep
