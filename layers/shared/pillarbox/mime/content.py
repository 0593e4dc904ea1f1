"""Read the content of one part, as far as the checks need it (RFC 2045 section 6).

To check it, the content is never decoded as a whole, except quoted-printable to measure it.
"""

import binascii
import re
from dataclasses import dataclass
from itertools import islice
from typing import Final

from pillarbox.domain.errors import cut
from pillarbox.mime.charsets import is_charset
from pillarbox.mime.fields import bad_message

#: The content is as it stands. A multipart has no other encoding (RFC 2045 section 6.4).
IDENTITY: Final = frozenset({b"7bit", b"8bit", b"binary"})
#: Also as programs write them: "7-bit", "quoted-printable;" and "8bit (a comment)". One that
#: searches for the name of an encoding must not find another in the comment.
_WRITTEN: Final = re.compile(
    rb"(7-?bit|8-?bit|binary|quoted-printable|base64)"
    rb"[ \t]*(?:;|\((?!.*(?:base64|quoted))[ ,./0-9:a-z_-]*\))?"
)
#: In bytes, of a name that an error repeats.
_MAX_SHOWN: Final = 40

#: How many decoded octets identify a program or a picture.
_FIRST: Final = 12
_NOT_BASE64: Final = re.compile(rb"[^A-Za-z0-9+/=\r\n\t ]")
_BASE64_END: Final = re.compile(rb"=[\r\n\t ]*+(?:=[\r\n\t ]*+)?")
_BASE64_DIGIT: Final = re.compile(rb"[A-Za-z0-9+/]")
#: One octet of quoted-printable, behind any soft line breaks and stray equal signs.
_QP_OCTET: Final = re.compile(
    rb"(?:=+(?==)|=[ \t]*+\r\n|=(?![0-9A-Fa-f]{2}))*+(=[0-9A-Fa-f]{2}|.)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class MimePart:
    """A part without parts: the body, one of its alternatives, or a file."""

    content_type: str
    disposition: str
    #: What mail programs may read as its name. Usually they all read the same one, if any.
    filenames: tuple[str, ...]
    encoding: bytes
    start: int
    end: int
    #: Of a text, as it is written; empty if none is named.
    charset: bytes = b""
    #: Whether it belongs to the form of the message, as a signature does, and is no file.
    is_form: bool = False


def read_encoding(value: bytes) -> bytes:
    """Return the encoding that a field names, in lower case.

    Raises:
        ValidationFailed: `bad_mime`.
    """
    match = _WRITTEN.fullmatch(value.lower())
    if match is None:
        raise bad_message("Content-Transfer-Encoding", "is not an encoding of RFC 2045", "bad_mime")
    return match[1].replace(b"-bit", b"bit")


def check_encoding(octets: bytes | bytearray, part: MimePart) -> None:
    """Raise if mail programs could decode a part differently.

    RFC 2045 section 6.8 lets them skip characters that are not base64, or report an error, and
    some stop at the first padding. So only white space may be among base64, and padding at its end.

    Raises:
        ValidationFailed: `bad_mime`.
    """
    if part.encoding != b"base64":
        return
    start, end = part.start, part.end
    padding = octets.find(b"=", start, end)
    blanks = sum(octets.count(blank, start, end) for blank in (b"\r", b"\n", b"\t", b" "))
    if (
        _NOT_BASE64.search(octets, start, end)
        or (padding >= 0 and not _BASE64_END.fullmatch(octets, padding, end))
        or (end - start - blanks) % 4
    ):
        raise bad_message("", "a part is not valid base64", "bad_mime")


def check_charset(charset: bytes) -> None:
    """Raise if a text has a character set that nothing can decode; SES refuses such an email.

    Raises:
        ValidationFailed: `bad_mime`.
    """
    name = charset.decode("latin-1").lower()
    if is_charset(name):
        return
    shown = cut(name, _MAX_SHOWN)
    raise bad_message("Content-Type", f"charset {shown} is not the name of one", "bad_mime")


def decoded_size(octets: bytes | bytearray, part: MimePart) -> int:
    """Return how many octets a part has after decoding.

    In base64, count everything except line ends as data, so the size is never too
    small.
    """
    if part.encoding == b"base64":
        digits = part.end - part.start
        digits -= octets.count(b"\r", part.start, part.end)
        digits -= octets.count(b"\n", part.start, part.end)
        tail = bytes(memoryview(octets)[max(part.start, part.end - 8) : part.end])
        return max((digits - tail.count(b"=")) * 3 // 4, 0)
    if part.encoding == b"quoted-printable":
        return len(binascii.a2b_qp(memoryview(octets)[part.start : part.end]))
    return part.end - part.start


def decoded(octets: bytes, part: MimePart) -> bytes:
    """Return the content of a part."""
    content = octets[part.start : part.end]
    if part.encoding == b"base64":
        return binascii.a2b_base64(content)
    return binascii.a2b_qp(content) if part.encoding == b"quoted-printable" else content


def first_octets(octets: bytes | bytearray, part: MimePart, count: int = _FIRST) -> bytes:
    """Return the first decoded octets, even behind many line breaks and blanks."""
    if part.encoding == b"base64":
        found = islice(_BASE64_DIGIT.finditer(octets, part.start, part.end), -(-count * 4 // 3))
        digits = b"".join(match[0] for match in found)
        complete = digits[: len(digits) - (len(digits) % 4 == 1)]
        return binascii.a2b_base64(complete + b"=" * (-len(complete) % 4))
    if part.encoding == b"quoted-printable":
        head, position = b"", part.start
        while len(head) < count and (match := _QP_OCTET.match(octets, position, part.end)):
            head += binascii.a2b_qp(match[1])
            position = match.end()
        return head
    return bytes(memoryview(octets)[part.start : min(part.end, part.start + count)])
