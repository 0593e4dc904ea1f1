"""Building the RFC 5322 message that SES is given.

The structure, of which a mail gets the levels it needs:

    multipart/mixed
        multipart/alternative
            text/plain
            multipart/related
                text/html
                inline parts
        attachments

Inline parts stand beside the HTML that shows them. The other nesting,
related(alternative, images), is what Exchange and Gmail send, so today's
readers know both; but a reader that shows the plain text is then left with
pictures that nothing refers to. Here they go with the alternative that is not
chosen (RFC 2046 section 5.1.4, RFC 2387 section 3.1). Attachments stay outside
both: iOS Mail does not show files inside multipart/related that the HTML does
not refer to.
"""

import hashlib
import io
import re
import struct
from base64 import b64encode
from binascii import b2a_qp
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Final

from pillarbox.domain.attachment import Attachment
from pillarbox.mime import headers

#: RFC 6838 section 4.2, without parameters.
_CONTENT_TYPE: Final = re.compile(
    r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}"
)

#: What may stand between the angle brackets of a Content-ID: visible ASCII but them.
_CONTENT_ID: Final = re.compile(r"[!-;=?-~]{1,255}")

#: RFC 2045 section 6.8: at most 76 characters a line.
_COLUMNS: Final = 76

#: Lines are cut some hundreds at a time: quick, and never a second copy of the file.
_LINES: Final = struct.Struct(f"{_COLUMNS}s" * 256)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingMail:
    """All that a mail shows. Blind copies are the envelope's, so there is no field for them."""

    #: The value of the Message-ID header, with its angle brackets.
    message_id: str
    #: With its time zone; written in UTC.
    date: datetime
    #: One addr-spec, as are the items of `to` and `cc`, and `reply_to`.
    sender: str
    from_name: str | None
    to: tuple[str, ...]
    cc: tuple[str, ...]
    reply_to: str | None
    subject: str
    html: str
    text: str
    attachments: tuple[Attachment, ...]


def build(mail: OutgoingMail) -> bytes:
    """The message: ASCII only, CRLF line ends; the same mail always gives the same bytes.

    Raises:
        ValueError: a value that cannot stand in a header field (a control
            character, an address that is not one addr-spec, ...), a date
            without time zone, or text that is not Unicode.
    """
    message = io.BytesIO()
    message.writelines(_message(mail))
    return message.getvalue()


def _message(mail: OutgoingMail) -> Iterator[bytes]:
    # "=_" occurs in neither quoted-printable nor base64 (RFC 2045 section 6.7),
    # so no body can hold a boundary.
    mark = hashlib.sha256(mail.message_id.encode()).hexdigest()[:32]
    inline = [_file(item) for item in mail.attachments if item.inline]
    attached = [_file(item) for item in mail.attachments if not item.inline]

    body = _text("html", mail.html)
    if inline:
        body = _multipart("related", mark, [body, *inline], 'type="text/html";')
    body = _multipart("alternative", mark, [_text("plain", mail.text), body])
    if attached:
        body = _multipart("mixed", mark, [body, *attached])

    yield from _fields(mail)
    yield from body
    yield b"\r\n"


def _fields(mail: OutgoingMail) -> Iterator[bytes]:
    if mail.date.tzinfo is None:
        raise ValueError("a date without time zone")
    yield headers.field("Date", [format_datetime(mail.date.astimezone(UTC))])
    yield headers.field("From", headers.mailbox(mail.from_name, mail.sender))
    if mail.to:
        yield headers.field("To", headers.address_list(mail.to))
    if mail.cc:
        yield headers.field("Cc", headers.address_list(mail.cc))
    if mail.reply_to:
        yield headers.field("Reply-To", [headers.addr_spec(mail.reply_to)])
    yield headers.field("Subject", headers.unstructured(mail.subject))
    # A msg-id has the form of an addr-spec in angle brackets (RFC 5322 section 3.6.4).
    bare_id = headers.addr_spec(mail.message_id.removeprefix("<").removesuffix(">"))
    yield headers.field("Message-ID", [f"<{bare_id}>"])
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
    """A body in UTF-8: quoted-printable, or base64 where that is shorter."""
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
    content_type = attachment.content_type.lower()
    if not _CONTENT_TYPE.fullmatch(content_type):
        raise ValueError("not a content type")
    # A delimiter line begins with "--" on a line of its own: without these no
    # content can end its part, even if it is not the base64 it should be.
    if any(octet in attachment.content for octet in "\r\n-"):
        raise ValueError("attachment content that is not base64")
    disposition = "inline;" if attachment.inline else "attachment;"
    yield headers.field("Content-Type", [content_type])
    yield headers.field("Content-Transfer-Encoding", ["base64"])
    yield headers.field(
        "Content-Disposition", [disposition, *headers.filename_parameter(attachment.filename)]
    )
    if attachment.inline:
        if not _CONTENT_ID.fullmatch(attachment.content_id or ""):
            raise ValueError("not a content id")
        yield headers.field("Content-ID", [f"<{attachment.content_id}>"])
    yield b"\r\n"
    yield from _lines(attachment.content)


def _lines(base64: str) -> Iterator[bytes]:
    """Cut base64 into lines, with no line end after the last."""
    for start in range(0, len(base64), _LINES.size):
        octets = base64[start : start + _LINES.size].encode("ascii")
        if start:
            yield b"\r\n"
        if len(octets) == _LINES.size:
            yield b"\r\n".join(_LINES.unpack(octets))
        else:
            cuts = range(0, len(octets), _COLUMNS)
            yield b"\r\n".join([octets[cut : cut + _COLUMNS] for cut in cuts])
