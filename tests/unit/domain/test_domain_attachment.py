"""Attachments: exact size limits, canonical base64, types and programs (contract 2.2, 8.3)."""

import base64
import binascii

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.errors import Json, ServiceError
from pillarbox.domain.messages.attachment import (
    ALLOWED_TYPES,
    Attachment,
    check_attachments,
    is_canonical_base64,
    normal_type,
)
from tests.fakes.builders import attachment

MAX_BYTES_EACH = 5 * 1024 * 1024

MIB = 1024 * 1024


def refusal(*attachments: Attachment) -> ServiceError | None:
    try:
        check_attachments(attachments)
    except ServiceError as error:
        return error
    return None


@given(st.binary(max_size=100))
def test_output_of_the_standard_encoder_is_canonical(data: bytes) -> None:
    """Base64 of RFC 4648 section 4 is canonical, and its size is known without decoding."""
    text = base64.b64encode(data).decode()
    assert is_canonical_base64(text)
    assert Attachment("a", "text/plain", text).size == len(data)


@given(st.text("ABYZaz09+/=-_ \n", max_size=12))
def test_each_file_has_one_canonical_encoding(text: str) -> None:
    """A text is canonical exactly if encoding its bytes gives the same text."""
    try:
        encoded = base64.b64encode(binascii.a2b_base64(text)).decode()
    except binascii.Error:
        encoded = None
    assert is_canonical_base64(text) == (encoded == text)


@pytest.mark.parametrize(
    "text",
    ["YR==", "YQ=", "YQ", "Y", "YQ==\n", "YQ ==", "YQ==YQ==", "a-_b", "YWJ=", "=", "====", "Ä==="],
)
def test_other_encodings_are_not_canonical(text: str) -> None:
    """Unused bits, missing padding, white space and the URL-safe alphabet are not canonical."""
    assert not is_canonical_base64(text)


@pytest.mark.parametrize("content_type", [*sorted(ALLOWED_TYPES), "TEXT/Plain", "image/PNG"])
def test_listed_types_are_accepted(content_type: str) -> None:
    """The fourteen types of section 8.3 are accepted in any case."""
    assert refusal(attachment(content_type=content_type)) is None


@pytest.mark.parametrize(
    "content_type",
    [
        *("application/octet-stream", "text/html", "image/svg+xml", "text/plain; format=flowed"),
        *("", "x", "text/plain; charset=utf-7", "text/plain\n", "text/plain; method=A\n"),
    ],
)
def test_other_types_are_refused(content_type: str) -> None:
    """Any other type, or a type with another parameter, is refused with its name and position."""
    error = refusal(attachment(), attachment(content_type=content_type))
    assert error is not None
    assert (error.status, error.code) == (400, "attachment_type_not_allowed")
    assert error.details == {"filename": "notes.txt", "content_type": content_type, "position": 1}


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("text/calendar; method=REQUEST", "text/calendar; method=REQUEST"),
        (
            'text/calendar; method="REQUEST"; charset="UTF-8"',
            "text/calendar; charset=utf-8; method=REQUEST",
        ),
        ('text/csv; charset="utf-8"', "text/csv; charset=utf-8"),
        ("Text/CSV;CHARSET=Windows-1252;", "text/csv; charset=windows-1252"),
        (' application/pdf ; name="a;b.pdf"', "application/pdf"),
    ],
)
def test_types_have_one_form(text: str, normal: str) -> None:
    """A charset and a method are kept, a name is not, and such a type is accepted."""
    assert normal_type(text) == normal
    assert refusal(attachment(content_type=normal)) is None


@pytest.mark.parametrize(
    "text",
    [
        "text/plain; a=1; a=2",
        "text/csv; charset=utf-8; CHARSET=utf-8",
        'text/csv; charset="a',
        "x;y",
    ],
)
def test_what_cannot_be_read_is_refused(text: str) -> None:
    assert normal_type(text) == text
    assert refusal(attachment(content_type=text)) is not None


def test_a_refusal_names_the_way_out() -> None:
    """The error names the right label, or the parameter that cannot be sent."""
    wrong = refusal(attachment(filename="x.pdf", content_type="application/octet-stream"))
    assert wrong is not None
    assert wrong.message.endswith("cannot be attached; label it application/pdf.")
    for program in (
        refusal(attachment(filename="x.exe")),
        refusal(attachment(filename="x", content_type="x/y")),
    ):
        assert program is not None
        assert program.message.endswith(
            "Allowed are pdf, ics, png, jpg, jpeg, gif, webp, txt, csv,"
            " doc, docx, xls, xlsx, ppt, pptx."
        )
    odd = refusal(attachment(content_type="text/plain; format=flowed"))
    assert odd is not None
    assert "has the parameter format." in odd.message
    unknown = refusal(attachment(content_type=normal_type("text/plain; Charset=UTF-7; method=x")))
    assert unknown is not None
    assert "has the charset utf-7." in unknown.message


@pytest.mark.parametrize("name", ["a.exe", "invoice.pdf.JS", "a.lnk.", "a.ba\u200bt"])
def test_extensions_that_ses_refuses(name: str) -> None:
    error = refusal(attachment(filename=name))
    assert error is not None
    assert (error.status, error.code) == (400, "attachment_type_not_allowed")
    assert error.details == {"filename": name, "content_type": "text/plain", "position": 0}


@pytest.mark.parametrize("head", [b"MZ", b"MZ\x90\x00\x03", b"\x7fELF", b"\x7fELF\x02\x01"])
def test_programs_are_refused_under_any_type(head: bytes) -> None:
    """A Windows or Linux program cannot be attached as a picture."""
    content = base64.b64encode(head).decode()
    error = refusal(attachment(content_type="image/png", content=content))
    assert error is not None
    assert error.code == "attachment_type_not_allowed"


@pytest.mark.parametrize("head", [b"", b"M", b"ZM", b"\x7fEL", b"PK\x03\x04", b"%PDF"])
def test_other_contents_pass(head: bytes) -> None:
    """A file that only resembles a program, or has another type than its label, is accepted."""
    assert refusal(attachment(content=base64.b64encode(head).decode())) is None


@pytest.mark.parametrize(
    ("sizes", "details"),
    [
        ([5 * MIB], None),
        (
            [5 * MIB + 1],
            {
                "scope": "per_attachment",
                "filename": "notes.txt",
                "size_bytes": 5 * MIB + 1,
                "limit_bytes": 5 * MIB,
            },
        ),
        ([5 * MIB, 5 * MIB], None),
        (
            [5 * MIB, 5 * MIB, 1],
            {"scope": "total", "size_bytes": 10 * MIB + 1, "limit_bytes": 10 * MIB},
        ),
        (
            [5 * MIB, 5 * MIB, 5 * MIB + 1],
            {
                "scope": "per_attachment",
                "filename": "notes.txt",
                "size_bytes": 5 * MIB + 1,
                "limit_bytes": 5 * MIB,
            },
        ),
    ],
)
def test_size_limits_are_exact(sizes: list[int], details: dict[str, Json] | None) -> None:
    """5 MB per file and 10 MB together are accepted; one byte more is refused with its scope."""
    error = refusal(*map(attachment, sizes))
    assert (error and error.details) == details
    assert error is None or (error.status, error.code) == (400, "attachment_too_large")


def test_types_are_checked_before_sizes() -> None:
    """A file of another type is refused as such, even behind one that is too large."""
    error = refusal(attachment(MAX_BYTES_EACH + 1), attachment(content_type="x"))
    assert error is not None
    assert error.code == "attachment_type_not_allowed"


def test_ten_attachments_at_most() -> None:
    """Ten attachments are accepted; eleven are refused before their types and sizes are checked."""
    assert refusal(*[attachment()] * 10) is None
    error = refusal(*[attachment(MAX_BYTES_EACH + 1, content_type="x")] * 11)
    assert error is not None
    assert (error.status, error.code) == (400, "too_many_attachments")
    assert error.details == {"count": 11, "limit": 10}
