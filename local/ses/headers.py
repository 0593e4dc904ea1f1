"""The header fields of a mail, read leniently: a tester's mail may be broken in any way."""

from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.parser import BytesHeaderParser
from email.policy import compat32


def header_fields(raw: bytes) -> tuple[tuple[str, str], ...]:
    """Name and value of each field in order, unfolded, else as written."""
    # The parser would look for the header's end in the whole of a large mail.
    ends = [end for mark in (b"\r\n\r\n", b"\n\n") if (end := raw.find(mark)) >= 0]
    message = BytesHeaderParser(policy=compat32).parsebytes(raw[: min(ends) if ends else None])
    return tuple((unfolded(name), unfolded(str(value))) for name, value in message.raw_items())


def first(fields: tuple[tuple[str, str], ...], name: str) -> str | None:
    """The first field of that name, in any case, or None."""
    return next((value for key, value in fields if key.lower() == name), None)


def unfolded(value: str) -> str:
    """One line (RFC 5322 section 2.2.3), bytes beyond ASCII read as UTF-8."""
    value = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return value.replace("\r", "").replace("\n", "").strip()


def decoded(value: str) -> str:
    """Encoded words (RFC 2047) as text; what cannot be decoded stays as written."""
    try:
        text = str(make_header(decode_header(value)))
    except (HeaderParseError, LookupError, ValueError):
        return value
    return text.encode("utf-8", "replace").decode("utf-8")
