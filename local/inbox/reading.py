"""A mail taken apart for reading: headers, text, HTML, and its other parts.

Lenient throughout: whatever was sent can be looked at, however broken it is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import compat32
from typing import Final
from weakref import WeakKeyDictionary

from local.ses.headers import decoded, unfolded
from local.ses.store import CapturedMail

_CID: Final = re.compile(r"""\bcid:([^"'\s)>]+)""", re.IGNORECASE)
_REMOTE: Final = re.compile(
    r"""(?:\bsrc\s*=\s*["']?|\bbackground\s*=\s*["']?|url\(\s*["']?)https?:""", re.IGNORECASE
)
_TYPE: Final = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
_HEAD: Final = re.compile(r"<head(?:\s[^>]*)?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class InboxPart:
    """A leaf of the MIME tree other than the two bodies."""

    number: int  # counts all leaves from 0, the bodies too
    content_type: str
    filename: str | None
    content_id: str | None
    inline: bool
    size: int  # bytes, decoded


@dataclass(frozen=True, slots=True)
class MailView:
    """What there is to see in a mail."""

    headers: tuple[tuple[str, str], ...]  # decoded
    text: str | None
    html: str | None
    parts: tuple[InboxPart, ...]

    @property
    def has_remote_images(self) -> bool:
        return self.html is not None and _REMOTE.search(self.html) is not None

    def framed_html(self) -> str:
        """The HTML for the preview: embedded images by URL, links into a new tab."""
        numbers = {part.content_id: part.number for part in self.parts if part.content_id}

        def located(reference: re.Match[str]) -> str:
            number = numbers.get(reference[1])
            return reference[0] if number is None else f"parts/{number}"

        html = _CID.sub(located, self.html or "")
        base = '<base target="_blank">'
        if head := _HEAD.search(html):
            return html[: head.end()] + base + html[head.end() :]
        # Before a doctype it would put the browser into quirks mode.
        at = end.end() if (end := re.match(r"\s*<!doctype[^>]*>", html, re.IGNORECASE)) else 0
        return html[:at] + base + html[at:]


_READINGS: Final[WeakKeyDictionary[CapturedMail, MailView]] = WeakKeyDictionary()


def reading_of(mail: CapturedMail) -> MailView:
    """Taken apart once for as long as the mail is kept."""
    if (found := _READINGS.get(mail)) is None:
        found = _READINGS[mail] = read(mail.raw)
    return found


def read(raw: bytes) -> MailView:
    """Take a message apart (RFC 5322, MIME). Never raises."""
    message = _parsed(raw)
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
    """The decoded bytes of the leaf with that number.

    Raises:
        LookupError: there is no such leaf.
    """
    for at, leaf in enumerate(_leaves(_parsed(raw))):
        if at == number:
            return _content(leaf)
    raise LookupError(number)


def _parsed(raw: bytes) -> Message:
    try:
        return message_from_bytes(raw, policy=compat32)
    except RecursionError:  # multiparts nested a thousand deep: its headers are left, and one part
        return BytesHeaderParser(policy=compat32).parsebytes(raw)


def _leaves(message: Message) -> Iterator[Message]:
    """Depth first; an attached message is one leaf."""
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
    """Fit to be a header of ours: what is no type and subtype is bytes of any kind."""
    found = leaf.get_content_type()
    return found if _TYPE.fullmatch(found) else "application/octet-stream"


def _text(leaf: Message) -> str:
    content = _content(leaf)
    try:
        text = content.decode(leaf.get_content_charset("utf-8"), "replace")
    except LookupError:
        text = content.decode("utf-8", "replace")
    return text.encode("utf-8", "replace").decode("utf-8")  # UTF-7 can hold lone surrogates


def _filename(leaf: Message) -> str | None:
    name = leaf.get_filename()
    return decoded(unfolded(name)) if name else None
