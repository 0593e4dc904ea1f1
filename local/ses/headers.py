"""Reads the header fields of an email. It is lenient, because a test email may be malformed."""

from email.errors import HeaderParseError
from email.header import decode_header
from email.parser import BytesHeaderParser
from email.policy import compat32
from typing import Final

#: What senders mean by the name of a smaller set.
_MEANT: Final = {
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987"), "cp949"),
    "iso-8859-1": "cp1252",
    "iso-8859-9": "cp1254",
    "shift_jis": "cp932",
    "us-ascii": "utf-8",
}


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
    """Decode encoded words (RFC 2047) as mail programs do.

    Wrong octets are replaced, and an unknown charset is read as UTF-8. The words are found by the
    standard library, which would also add blanks.
    """
    try:
        pieces = decode_header(value)
    except HeaderParseError:  # a word is not base64
        return value
    return "".join(
        piece if isinstance(piece, str) else text_of(piece, charset or "raw-unicode-escape")
        for piece, charset in pieces
    )


def text_of(octets: bytes, charset: str) -> str:
    name = charset.partition("*")[0].lower()  # without the language of RFC 2231
    try:
        text = octets.decode(_MEANT.get(name, name), "replace")
    except (LookupError, ValueError):
        text = octets.decode("utf-8", "replace")
    return text.encode("utf-8", "replace").decode("utf-8")  # UTF-7 can hold lone surrogates
