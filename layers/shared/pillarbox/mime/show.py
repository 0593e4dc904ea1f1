"""Take a message apart for people who look at it."""

from dataclasses import dataclass
from typing import Final

from pillarbox.domain.errors import ValidationFailed
from pillarbox.mime.encoded_words import decode
from pillarbox.mime.parse import decoded, decoded_size, parse

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
    """Return the parts of a message. It was checked when it was accepted.

    An earlier version may have accepted what this one refuses: such a message shows no parts.
    """
    try:
        parts = parse(octets).parts
    except ValidationFailed:
        parts = ()
    bodies: dict[str, str | None] = {}
    files = []
    form_end = 0  # a message that a report returns has parts of its own
    for part in parts:
        kind, name = part.content_type, next(iter(part.filenames), None)
        is_file = part.disposition == "attachment" or name is not None
        is_file |= part.start < form_end
        if kind in {"text/html", "text/plain"} and not is_file and kind not in bodies:
            content = decoded(octets, part)
            charset = part.charset.decode("latin-1")
            bodies[kind] = decode(content, charset) if len(content) <= MAX_SHOWN else None
        else:
            form_end = max(form_end, part.end if part.is_form else 0)
            files.append(ShownFile(name, kind, decoded_size(octets, part)))
    return ShownMail(bodies.get("text/html"), bodies.get("text/plain"), tuple(files), len(octets))
