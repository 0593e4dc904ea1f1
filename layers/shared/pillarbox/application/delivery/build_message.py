"""Build the message that SES gets, and keep its content after the hand-over."""

from collections.abc import Callable
from dataclasses import replace
from email.utils import format_datetime
from typing import Final

from pillarbox.application.render import render, to_text
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.messages.mail import Mail, RawBody, TextBody
from pillarbox.domain.messages.message import Message
from pillarbox.mime.build import OutgoingMail, build
from pillarbox.mime.headers import field

_REFERENCES: Final = "references"


def build_raw(
    mail: Mail, message: Message, base_url: str = "", reply_key: bytes | None = None
) -> bytes:
    """Build the message of RFC 5322; every build of one message gives the same octets.

    SES adds the Message-ID. A missing Date is added (RFC 6409 section 8.2), so that the kept
    content has one; SES replaces it.
    `base_url` is the address of API and dashboard, for the link in test mails; `reply_key` makes
    the tokens of mail to which answers come back.
    """
    if reply_key:
        mail = with_token(mail, message, reply_key)
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


def with_token(mail: Mail, message: Message, key: bytes) -> Mail:
    """Return a mail whose answers lead back to it, also if they go to an address of its sender.

    SES leaves References alone, and mail programs copy it. An address for replies that the sender
    chose stays.
    """
    from pillarbox.domain.replies import (  # noqa: PLC0415  most mail has no token
        reply_address,
        reply_reference,
        reply_token,
    )

    domain = mail.reply_domain or ""
    token = reply_token(message.account_id, message.message_id, key)
    address, reference = reply_address(token, domain), reply_reference(token, domain)
    if isinstance(mail.body, RawBody):
        header = mail.body.octets.partition(b"\r\n\r\n")[0].lower()
        fields = [("Reply-To", address), ("References", reference)]
        missing = [
            field(name, [value])
            for name, value in fields
            if not header.startswith(f"{name}:".lower().encode())
            and f"\r\n{name}:".lower().encode() not in header
        ]
        octets = b"".join([*missing, mail.body.octets])
        return replace(mail, body=replace(mail.body, octets=octets))
    name = next((one for one in mail.headers if one.lower() == _REFERENCES), "References")
    references = f"{mail.headers.get(name, '')} {reference}".strip()
    return replace(
        mail,
        reply_to=mail.reply_to or (address,),
        headers={**mail.headers, name: references},
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
