"""Reads the header fields of an email. It is lenient, because a test email may be malformed."""

from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.parser import BytesHeaderParser
from email.policy import compat32


def header_fields(raw: bytes) -> tuple[tuple[str, str], ...]:
    """Return name and value of each field in order, unfolded but not decoded."""
    # The parser would search a whole large mail for the end of the header.
    ends = [end for mark in (b"\r\n\r\n", b"\n\n") if (end := raw.find(mark)) >= 0]
    message = BytesHeaderParser(policy=compat32).parsebytes(raw[: min(ends) if ends else None])
    return tuple((unfolded(name), unfolded(str(value))) for name, value in message.raw_items())


def first(fields: tuple[tuple[str, str], ...], name: str) -> str | None:
    """Return the first field with that lower-case name, or None; case is ignored."""
    return next((value for key, value in fields if key.lower() == name), None)


def unfolded(value: str) -> str:
    """Return a value as one line (RFC 5322 section 2.2.3); read non-ASCII bytes as UTF-8."""
    value = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return value.replace("\r", "").replace("\n", "").strip()


def decoded(value: str) -> str:
    """Decode encoded words (RFC 2047); return a value that cannot be decoded unchanged."""
    try:
        text = str(make_header(decode_header(value)))
    except (HeaderParseError, LookupError, ValueError):
        return value
    return text.encode("utf-8", "replace").decode("utf-8")
