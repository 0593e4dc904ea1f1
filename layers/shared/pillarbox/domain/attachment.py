"""Attachments: the limits and types of contract sections 2.2, 8.2 and 8.3."""

import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from pillarbox.domain.errors import ServiceError

MAX_ATTACHMENTS: Final = 10
MAX_BYTES_EACH: Final = 5 * 1024 * 1024
MAX_BYTES_TOTAL: Final = 10 * 1024 * 1024

ALLOWED_TYPES: Final = frozenset(
    {
        "application/pdf",
        "text/calendar",
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        "text/plain",
        "text/csv",
        "application/msword",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.ms-excel",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.ms-powerpoint",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    }
)

#: Characters of a content type that an answer repeats; a real one is shorter (RFC 6838, 4.2).
_SHOWN: Final = 255

#: Windows and Linux programs, whatever their label says.
_EXECUTABLE_MAGIC: Final = (b"MZ", b"\x7fELF")


class AttachedFile(Protocol):
    """A file that a mail carries, in whatever form the mail came."""

    @property
    def filename(self) -> str: ...

    @property
    def content_type(self) -> str: ...

    @property
    def size(self) -> int:
        """Decoded size in bytes."""
        ...

    @property
    def first_octets(self) -> bytes:
        """How it begins, decoded: what a program is known by."""
        ...


@dataclass(frozen=True, slots=True)
class Attachment:
    """One file of a mail.

    `content` is the canonical base64 text (RFC 4648 section 4) as the caller
    sent it: the mail carries base64 as well, so the bytes need not be decoded
    to be sent.
    """

    filename: str
    content_type: str
    content: str
    inline: bool = False
    content_id: str | None = None

    @property
    def size(self) -> int:
        """Decoded size in bytes, from the length of the base64 text."""
        padding = self.content.count("=", -2) if self.content else 0
        return len(self.content) // 4 * 3 - padding

    @property
    def first_octets(self) -> bytes:
        """The first six bytes."""
        return binascii.a2b_base64(self.content[:8])


def check_attachments(attachments: Sequence[AttachedFile]) -> None:
    """Hold the attachments of one mail against the contract's limits.

    Raises:
        ServiceError: `too_many_attachments`, `attachment_type_not_allowed` or
            `attachment_too_large`, in this order.
    """
    if len(attachments) > MAX_ATTACHMENTS:
        raise ServiceError(
            "too_many_attachments",
            f"A mail takes at most {MAX_ATTACHMENTS} attachments; this one has {len(attachments)}.",
            details={"count": len(attachments), "limit": MAX_ATTACHMENTS},
        )
    for position, attachment in enumerate(attachments):
        _check_type(position, attachment)
    for attachment in attachments:
        if attachment.size > MAX_BYTES_EACH:
            raise ServiceError(
                "attachment_too_large",
                f"{attachment.filename} is larger than {MAX_BYTES_EACH} bytes.",
                details={
                    "scope": "per_attachment",
                    "filename": attachment.filename,
                    "size_bytes": attachment.size,
                    "limit_bytes": MAX_BYTES_EACH,
                },
            )
    total = sum(attachment.size for attachment in attachments)
    if total > MAX_BYTES_TOTAL:
        raise ServiceError(
            "attachment_too_large",
            f"The attachments together are larger than {MAX_BYTES_TOTAL} bytes.",
            details={"scope": "total", "size_bytes": total, "limit_bytes": MAX_BYTES_TOTAL},
        )


def is_canonical_base64(text: str) -> bool:
    """Whether text is base64 with padding, no white space and zero trailing bits.

    RFC 4648 section 3.5: bits beyond the data must be zero, so that one file
    has one spelling. Only the last group can hold such bits.
    """
    if len(text) % 4 or not text.isascii():
        return False
    try:
        binascii.a2b_base64(text, strict_mode=True)
    except binascii.Error:
        return False
    last = text[-4:]
    return binascii.b2a_base64(binascii.a2b_base64(last), newline=False).decode() == last


def _check_type(position: int, attachment: AttachedFile) -> None:
    head = attachment.first_octets
    if attachment.content_type.lower() in ALLOWED_TYPES and not head.startswith(_EXECUTABLE_MAGIC):
        return
    label = attachment.content_type[:_SHOWN]
    raise ServiceError(
        "attachment_type_not_allowed",
        f"{attachment.filename}: {label} files cannot be attached."
        if attachment.content_type.lower() not in ALLOWED_TYPES
        else f"{attachment.filename} is a program; programs cannot be attached.",
        details={
            "filename": attachment.filename,
            "content_type": label,
            "position": position,
        },
    )
