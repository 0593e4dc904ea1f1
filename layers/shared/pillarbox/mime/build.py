"""Build the RFC 5322 message for SES.

This is the complete structure. A message has only the levels that it needs:

    multipart/mixed
        multipart/alternative
            text/plain
            multipart/related
                text/html
                inline parts
        attachments

Inline parts belong to the HTML that shows them. Exchange and Gmail send the
other nesting, related(alternative, images), so mail programs understand both.
But with that nesting, a program that shows the plain text also has images that
the text does not refer to. With ours, it ignores them together with the HTML
(RFC 2046 section 5.1.4, RFC 2387 section 3.1). Attachments stay outside both,
because iOS Mail does not show files inside multipart/related unless the HTML
refers to them.
"""

import io
import re
import struct
from base64 import b64decode, b64encode
from binascii import b2a_qp
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Final
from uuid import UUID

from pillarbox.domain.messages.attachment import Attachment, is_normal_type, normal_type
from pillarbox.mime import headers

#: The method of a calendar (RFC 5545 section 3.7.2), which its type must repeat (RFC 6047 section
#: 2.4): without it, mail programs show an invitation as a file. It is not folded, and comes before
#: the components and further calendars.
_FOLD: Final = re.compile(rb"\r?\n[ \t]")
_COMPONENT: Final = re.compile(rb"(?im)^(?:BEGIN:(?!VCALENDAR\b)|END:)")
_METHOD: Final = re.compile(rb"(?im)^METHOD(?:;[^\r\n:]*)?:[ \t]*([a-z-]{1,32})[ \t]*\r?$")

#: The text between the angle brackets of a Content-ID: visible ASCII without these brackets.
_CONTENT_ID: Final = re.compile(r"[!-;=?-~]{1,255}")

#: RFC 2045 section 6.8: at most 76 characters per line.
_COLUMNS: Final = 76

#: Split 256 lines at a time. That is fast and needs no second copy of the file.
_LINES: Final = struct.Struct(f"{_COLUMNS}s" * 256)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMail:
    """Everything that the recipients see.

    Blind copies are only in the SMTP envelope, so there is no field for them.
    """

    #: Makes the boundaries of its parts. The Message-ID is added when it is sent.
    message_id: UUID
    #: Has a time zone. The Date header is in UTC.
    date: datetime
    #: One addr-spec, like each item of `to`, `cc` and `reply_to`.
    sender: str
    from_name: str | None
    to: tuple[str, ...]
    cc: tuple[str, ...]
    reply_to: tuple[str, ...]
    subject: str
    #: None has the text alone.
    html: str | None
    text: str
    attachments: tuple[Attachment, ...]
    #: Further fields, with names and values that `normal_headers` returns.
    headers: Mapping[str, str] = field(default_factory=dict)
    #: The names of those in `to`, `cc` and `reply_to`, by address.
    names: Mapping[str, str] = field(default_factory=dict)


def build(mail: OutgoingMail) -> bytes:
    """Return the message in ASCII with CRLF line ends.

    The same mail always gives the same bytes.
    """
    message = io.BytesIO()
    message.writelines(_message(mail))
    return message.getvalue()


def _message(mail: OutgoingMail) -> Iterator[bytes]:
    # Neither quoted-printable nor base64 contains "=_" (RFC 2045 section 6.7),
    # so no body can contain a boundary.
    mark = mail.message_id.hex
    inline = [_file(file) for file in mail.attachments if file.inline]
    attached = [_file(file) for file in mail.attachments if not file.inline]

    body = _text("plain", mail.text)
    if mail.html is None:
        attached = [*inline, *attached]  # no HTML shows them
    else:
        html = _text("html", mail.html)
        if inline:
            html = _multipart("related", mark, [html, *inline], 'type="text/html";')
        body = _multipart("alternative", mark, [body, html])
    if attached:
        body = _multipart("mixed", mark, [body, *attached])

    yield from _fields(mail)
    yield from body
    yield b"\r\n"


def _fields(mail: OutgoingMail) -> Iterator[bytes]:
    if mail.date.tzinfo is None:
        raise ValueError("the date has no time zone")
    yield headers.field("Date", [format_datetime(mail.date.astimezone(UTC))])
    yield headers.field("From", headers.mailbox(mail.from_name, mail.sender))
    if mail.to:
        yield headers.field("To", headers.address_list(mail.to, mail.names))
    if mail.cc:
        yield headers.field("Cc", headers.address_list(mail.cc, mail.names))
    if mail.reply_to:
        yield headers.field("Reply-To", headers.address_list(mail.reply_to, mail.names))
    yield headers.field("Subject", headers.unstructured(mail.subject))
    for name, value in mail.headers.items():
        yield headers.field(name, headers.words(value))
    yield headers.field("MIME-Version", ["1.0"])


def _multipart(
    subtype: str, mark: str, parts: list[Iterator[bytes]], *parameters: str
) -> Iterator[bytes]:
    boundary = f"=_{subtype}_{mark}"
    words = [f"multipart/{subtype};", *parameters, f'boundary="{boundary}"']
    yield headers.field("Content-Type", words)
    for part in parts:
        yield f"\r\n--{boundary}\r\n".encode()
        yield from part
    yield f"\r\n--{boundary}--".encode()


def _text(subtype: str, text: str) -> Iterator[bytes]:
    """Write a body in UTF-8, as quoted-printable or as base64 if that is shorter."""
    octets = text.replace("\r\n", "\n").replace("\r", "\n").encode()
    encoding, body = "quoted-printable", b2a_qp(octets).replace(b"\n", b"\r\n")
    base64 = b"".join(_lines(b64encode(octets.replace(b"\n", b"\r\n")).decode()))
    if len(base64) < len(body):
        encoding, body = "base64", base64
    yield headers.field("Content-Type", [f"text/{subtype};", "charset=utf-8"])
    yield headers.field("Content-Transfer-Encoding", [encoding])
    yield b"\r\n"
    yield body


def _file(attachment: Attachment) -> Iterator[bytes]:
    if not is_normal_type(attachment.content_type):
        raise ValueError("the content type is not valid")
    # A delimiter starts with "--" on a new line. Without these characters the content
    # cannot end its part, even if it is not valid base64.
    if any(octet in attachment.content for octet in "\r\n-"):
        raise ValueError("the content of an attachment is not base64")
    disposition = "inline;" if attachment.inline else "attachment;"
    yield headers.field("Content-Type", _full_type(attachment).split(" "))
    yield headers.field("Content-Transfer-Encoding", ["base64"])
    yield headers.field(
        "Content-Disposition", [disposition, *headers.filename_parameter(attachment.filename)]
    )
    if attachment.inline:
        if not _CONTENT_ID.fullmatch(attachment.content_id or ""):
            raise ValueError("the content id is not valid")
        yield headers.field("Content-ID", [f"<{attachment.content_id}>"])
    yield b"\r\n"
    yield from _lines(attachment.content)


def _full_type(attachment: Attachment) -> str:
    """Return the type of a file, with what a mail program needs to show a text or a calendar."""
    full_type = normal_type(attachment.content_type)
    needs_charset = full_type.startswith("text/") and "; charset=" not in full_type
    needs_method = full_type.startswith("text/calendar") and "; method=" not in full_type
    octets = b64decode(attachment.content) if needs_charset or needs_method else b""
    if needs_charset:
        with suppress(UnicodeDecodeError):
            octets.decode()
            media_type, separator, method = full_type.partition("; ")
            full_type = f"{media_type}; charset=utf-8{separator}{method}"
    if needs_method:
        found = _METHOD.search(_COMPONENT.split(_FOLD.sub(b"", octets), 1)[0])
        full_type += f"; method={found[1].decode()}" if found else ""
    return full_type


def _lines(base64: str) -> Iterator[bytes]:
    """Split base64 into lines, without a line end after the last one."""
    for block in range(0, len(base64), _LINES.size):
        octets = base64[block : block + _LINES.size].encode("ascii")
        if block:
            yield b"\r\n"
        if len(octets) == _LINES.size:
            yield b"\r\n".join(_LINES.unpack(octets))
        else:
            starts = range(0, len(octets), _COLUMNS)
            yield b"\r\n".join([octets[start : start + _COLUMNS] for start in starts])
