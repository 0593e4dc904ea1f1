"""Take a message apart for people who look at it."""

from dataclasses import dataclass
from email import message_from_bytes
from email.policy import default
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from email.message import Message

#: In octets: a longer part is not shown. Both parts as JSON must fit into a response of 6 MB.
MAX_SHOWN: Final = 512 * 1024


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file of a message."""

    filename: str | None
    content_type: str
    size: int


@dataclass(frozen=True, slots=True)
class ShownMail:
    """The parts of a message; None if it has no such part, or one that is too long to show."""

    html: str | None
    text: str | None
    files: tuple[ShownFile, ...]
    size: int


def show(octets: bytes) -> ShownMail:
    """Return the parts of a message. It was checked when it was accepted."""
    bodies: dict[str, str | None] = {}
    files = []
    for part in message_from_bytes(octets, policy=default).walk():
        if part.is_multipart():
            continue
        kind, payload = part.get_content_type(), part.get_payload(decode=True)
        content = payload if isinstance(payload, bytes) else b""
        is_file = part.get_content_disposition() == "attachment" or part.get_filename() is not None
        if kind in {"text/html", "text/plain"} and not is_file and kind not in bodies:
            bodies[kind] = _decoded(part, content) if len(content) <= MAX_SHOWN else None
        else:
            files.append(ShownFile(part.get_filename(), kind, len(content)))
    return ShownMail(bodies.get("text/html"), bodies.get("text/plain"), tuple(files), len(octets))


def _decoded(part: "Message[str, str]", content: bytes) -> str:
    try:
        return content.decode(part.get_content_charset("utf-8"), "replace")
    except LookupError:  # an unknown charset
        return content.decode("latin-1")
