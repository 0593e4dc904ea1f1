"""Parses an email for the inbox: headers, text, HTML and the other parts.

The parser is lenient, so that the inbox can show a malformed email.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import compat32
from typing import Final
from urllib.parse import unquote
from weakref import WeakKeyDictionary

from local.ses.headers import decoded, text_of, unfolded
from local.ses.mail import CapturedMail

_CID: Final = re.compile(r"""\bcid:([^"'\s)>]+)""", re.IGNORECASE)
_REMOTE: Final = re.compile(
    r"""(?:\bsrc\s*=\s*["']?|\bbackground\s*=\s*["']?|url\(\s*["']?)https?:""", re.IGNORECASE
)
_TYPE: Final = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
_HEAD: Final = re.compile(r"<head(?:\s[^>]*)?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class InboxPart:
    """A leaf of the MIME tree that is not one of the two bodies."""

    number: int  # counts all leaves from 0, including the bodies
    content_type: str
    filename: str | None
    content_id: str | None
    inline: bool
    size: int  # bytes after decoding


@dataclass(frozen=True, slots=True)
class MailView:
    """The parts of an email that the inbox shows."""

    headers: tuple[tuple[str, str], ...]  # decoded
    text: str | None
    html: str | None
    parts: tuple[InboxPart, ...]

    @property
    def attached(self) -> tuple[InboxPart, ...]:
        """The files, without the images of the HTML."""
        return tuple(part for part in self.parts if not part.inline)

    @property
    def has_remote_images(self) -> bool:
        return self.html is not None and _REMOTE.search(self.html) is not None

    def framed_html(self) -> str:
        """Return the HTML for the frame: embedded images by URL, links in a new tab."""
        numbers = {part.content_id: part.number for part in self.parts if part.content_id}

        def part_url(reference: re.Match[str]) -> str:
            number = numbers.get(unquote(reference[1]))
            return reference[0] if number is None else f"parts/{number}"

        html = _CID.sub(part_url, self.html or "")
        base = '<base target="_blank">'
        if head := _HEAD.search(html):
            return html[: head.end()] + base + html[head.end() :]
        # Before a doctype, the element would put the browser into quirks mode.
        doctype = re.match(r"\s*<!doctype[^>]*>", html, re.IGNORECASE)
        start = doctype.end() if doctype else 0
        return html[:start] + base + html[start:]


_VIEWS: Final[WeakKeyDictionary[CapturedMail, MailView]] = WeakKeyDictionary()


def view_of(mail: CapturedMail) -> MailView:
    """Return the parsed mail; an email is parsed only once."""
    if (view := _VIEWS.get(mail)) is None:
        view = _VIEWS[mail] = read(mail.raw)
    return view


def read(raw: bytes) -> MailView:
    """Parse a message (RFC 5322, MIME). Never raise."""
    message = _parse(raw)
    bodies: dict[str, str] = {}
    parts: list[InboxPart] = []
    for number, leaf in enumerate(_leaves(message)):
        content_type = _content_type(leaf)
        filename = _filename(leaf)
        disposition = leaf.get_content_disposition()
        if (
            content_type in {"text/plain", "text/html"}
            and content_type not in bodies
            and filename is None
            and disposition != "attachment"
        ):
            bodies[content_type] = _text(leaf)
            continue
        content_id = unfolded(str(leaf.get("Content-ID", ""))).strip("<>")
        parts.append(
            InboxPart(
                number=number,
                content_type=content_type,
                filename=filename,
                content_id=content_id or None,
                inline=disposition == "inline",
                size=len(_content(leaf)),
            )
        )
    return MailView(
        headers=tuple((name, decoded(unfolded(str(value)))) for name, value in message.raw_items()),
        text=bodies.get("text/plain"),
        html=bodies.get("text/html"),
        parts=tuple(parts),
    )


def part_content(raw: bytes, number: int) -> bytes:
    """Return the decoded bytes of the leaf with that number."""
    for index, leaf in enumerate(_leaves(_parse(raw))):
        if index == number:
            return _content(leaf)
    raise LookupError(number)


def _parse(raw: bytes) -> Message:
    try:
        return message_from_bytes(raw, policy=compat32)
    except RecursionError:  # multiparts are nested too deep: keep the headers and one part
        return BytesHeaderParser(policy=compat32).parsebytes(raw)


def _leaves(message: Message) -> Iterator[Message]:
    """Yield the leaves depth first; an attached message is one leaf."""
    stack = [message]
    while stack:
        part = stack.pop()
        children = part.get_payload()
        if isinstance(children, list) and part.get_content_maintype() == "multipart":
            stack.extend(child for child in reversed(children) if isinstance(child, Message))
        else:
            yield part


def _content(leaf: Message) -> bytes:
    payload = leaf.get_payload()
    if isinstance(payload, list):
        return b"".join(child.as_bytes() for child in payload if isinstance(child, Message))
    content = leaf.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _content_type(leaf: Message) -> str:
    """Return a type that is valid in a response header; octet-stream if the mail's is not."""
    content_type = leaf.get_content_type()
    return content_type if _TYPE.fullmatch(content_type) else "application/octet-stream"


def _text(leaf: Message) -> str:
    return text_of(_content(leaf), leaf.get_content_charset("utf-8"))


def _filename(leaf: Message) -> str | None:
    name = leaf.get_filename()
    return decoded(unfolded(name)) if name else None
