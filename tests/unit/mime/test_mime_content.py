"""The content of parts: what is valid base64, and which octets a program starts with."""

import base64
import encodings
import pkgutil
import quopri
import time
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.errors import ValidationFailed
from pillarbox.mime.parse import MimePart, check_charset, check_encoding, first_octets
from tests.loops import for_each
from tests.refusals import faults

#: Modules that are no character sets, or only ones of Windows itself.
NO_CHARSETS: Final = frozenset(
    {"aliases", "charmap", "idna", "oem", "palmos", "punycode", "raw_unicode_escape", "undefined"}
    | {"unicode_escape"}
)
PROGRAM = b"MZ\x90\x00\x03program\xff"


def part(content: bytes, encoding: bytes) -> MimePart:
    return MimePart("image/png", "", (), encoding, 0, len(content))


def hidden(blank: bytes, times: int) -> list[tuple[bytes, bytes]]:
    """Return a program behind blanks that decoders skip, in both encodings."""
    escaped = "".join(f"={octet:02X}" for octet in PROGRAM).encode()
    return [
        (b"base64", blank * times + base64.b64encode(PROGRAM)),
        (b"quoted-printable", b"=\r\n" * times + quopri.encodestring(PROGRAM)),
        (b"quoted-printable", b"= \t\r\n" * times + escaped),
        (b"quoted-printable", b"=\r\n".join([escaped[n : n + 3] for n in range(0, 39, 3)])),
        (b"quoted-printable", b"=" * times + escaped),
        (b"8bit", PROGRAM),
    ]


@pytest.mark.parametrize("blank", [b"\r\n", b" ", b"\t\r\n", b" \r\n\r\n"])
@pytest.mark.parametrize("times", [0, 1, 100, 100_000])
def test_a_program_is_found_behind_blanks(blank: bytes, times: int) -> None:
    for encoding, content in hidden(blank, times):
        assert first_octets(content, part(content, encoding)).startswith(PROGRAM[:3])


@given(st.binary(max_size=60), st.sampled_from([b"\r\n", b"", b" \r\n"]))
def test_first_octets_are_those_of_the_file(content: bytes, between: bytes) -> None:
    encoded = between.join(base64.b64encode(content)[n : n + 4] for n in range(0, 80, 4))
    check_encoding(encoded, part(encoded, b"base64"))
    first = first_octets(encoded, part(encoded, b"base64"))
    assert content.startswith(first)
    assert len(first) == min(len(content), 12)


@for_each(
    "content",
    [
        *(b"!YWJj", b"YW*Jj", b"YWJj-", b"_WJj", b"=YWJj", b"YQ==YQ==", b"YQ==\r\nYWJj", b"YQ="),
        *(b"YWJ", b"YQ===", b"\x80YWJj", b"YWJj\x00", b"=", b"===="),
    ],
)
def test_other_base64_is_refused(content: bytes) -> None:
    """Foreign characters, padding inside and missing padding are refused: decoders differ."""
    with pytest.raises(ValidationFailed):
        check_encoding(content, part(content, b"base64"))


@pytest.mark.parametrize(
    "content", [b"", b"YQ==", b"YWI=\r\n\r\n", b" YWJj \r\n\tYWJj\r\n", b"YQ= ="]
)
def test_base64_in_lines_is_accepted(content: bytes) -> None:
    """White space among base64 is accepted, because every decoder skips it."""
    check_encoding(content, part(content, b"base64"))


@pytest.mark.parametrize("encoding", [b"base64", b"quoted-printable"])
@pytest.mark.parametrize("filler", [b" \r\n", b"=\r\n", b"=", b"= ", b"=0", b"A"])
def test_hostile_content_is_checked_quickly(encoding: bytes, filler: bytes) -> None:
    """A content of 4 MB that provokes repeated searches costs little time."""
    content = filler * (4_000_000 // len(filler))
    started = time.thread_time()
    first_octets(content, part(content, encoding))
    if encoding == b"quoted-printable" or b"=" not in filler:
        check_encoding(content, part(content, encoding))
    assert time.thread_time() - started < 2


@for_each(
    "charset",
    [
        *("utf-8", "UTF8", "us-ascii", "ISO-8859-1", "iso_8859-1:1987", "windows-1252", "KOI8-U"),
        *("gbk", "iso-2022-jp", "Shift_JIS", "euc-kr", "windows-874", "iso-8859-8-i", "x-sjis"),
        "unknown-8bit",
    ],
)
def test_known_charsets_are_accepted(charset: str) -> None:
    check_charset(charset.encode())


def test_every_charset_that_python_knows_is_accepted() -> None:
    """Each codec passes, also one without another name, such as that of Ukrainian (RFC 2319)."""
    names = {module.name for module in pkgutil.iter_modules(encodings.__path__)} - NO_CHARSETS
    assert "koi8_u" in names
    for name in names:
        check_charset(name.replace("_", "-").encode())


@for_each("charset", ["cp-850", "unknown", "utf-9", "utf.8", "text/html", "é\r\n", ""])
def test_an_unknown_charset_is_refused(charset: str) -> None:
    """A text in a character set that does not exist is refused, as SES would later."""
    assert faults(check_charset, charset.encode())[0][0] == "Content-Type"
