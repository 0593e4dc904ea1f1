"""An email as its recipients get it: SES writes Message-ID and Date anew.

Source: "Amazon SES header fields", docs.aws.amazon.com/ses/latest/dg/header-fields.html, read on
2026-11-28. The form of the id is that of mails from SES: in us-east-1 the host has no region.
"""

import re
from datetime import datetime
from email.utils import format_datetime
from typing import Final

_REPLACED: Final = re.compile(rb"(?im)^(?:message-id|date)[ \t]*:.*(?:\n[ \t].*)*(?:\n|\Z)")
_HEADER_END: Final = re.compile(rb"\r?\n\r?\n")


def message_id(provider_id: str, region: str) -> str:
    """Return the Message-ID that recipients see, in angle brackets."""
    host = "email" if region == "us-east-1" else region
    return f"<{provider_id}@{host}.amazonses.com>"


def as_delivered(raw: bytes, provider_id: str, region: str, at: datetime) -> bytes:
    """Return an email with SES's Message-ID, and the time of acceptance as its Date."""
    ends = _HEADER_END.search(raw)
    head, rest = (raw[: ends.start()], raw[ends.start() :]) if ends else (raw, b"")
    newline = "\r\n" if b"\r\n" in (raw[: ends.end()] if ends else raw) else "\n"
    kept = _REPLACED.sub(b"", head + newline.encode()).removesuffix(newline.encode())
    own = (f"Message-ID: {message_id(provider_id, region)}", f"Date: {format_datetime(at)}")
    return b"".join((*(f"{line}{newline}".encode() for line in own), kept, rest))
