"""The built message: structure, bodies, attachments, and values that are refused."""

import base64
import email
import email.policy
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from email.message import EmailMessage
from typing import cast
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.messages.attachment import Attachment
from pillarbox.mime.build import OutgoingMail, build
from tests.loops import for_each

PDF = Attachment("receipt.pdf", "application/pdf", base64.b64encode(b"%PDF-1.7").decode())
NOTE = Attachment("note.txt", "text/plain", base64.b64encode("Grüße".encode()).decode())
LOGO = Attachment("logo.png", "image/png", base64.b64encode(b"\x89PNG").decode(), True, "logo")
MAIL = OutgoingMail(
    message_id=UUID("0199c0de-0000-7000-8000-000000000001"),
    date=datetime(2026, 11, 20, 9, 30, tzinfo=UTC),
    sender="no-reply@shop.example",
    from_name="Shop",
    to=("ann@mail.example",),
    cc=(),
    reply_to=(),
    subject="Your receipt",
    html="<p>Thank you.</p>\n",
    text="Thank you.\n",
    attachments=(),
)
#: The types in an email with a picture, and in one with a file too.
RICH: list[object] = ["alternative", "text/plain", ["related", "text/html", "image/png"]]
WHOLE: list[object] = ["mixed", RICH, "application/pdf"]
BODY = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\r\n \t.=ü😀-"), max_size=400
)


def read(message: bytes) -> EmailMessage:
    """Parse a message with the standard library's current parser, which must find no defect."""
    parsed = email.message_from_bytes(message, policy=email.policy.default)
    assert not [part.defects for part in parsed.walk() if part.defects]
    return parsed


def tree(part: EmailMessage) -> object:
    """Return the content types as nested lists."""
    if not part.is_multipart():
        return part.get_content_type()
    children = cast("list[EmailMessage]", list(part.iter_parts()))
    return [part.get_content_subtype(), *map(tree, children)]


def with_line_ends(text: str) -> str:
    """Return text with CRLF in place of each CR, LF or CRLF."""
    return re.sub(r"\r\n|\r|\n", "\r\n", text)


def check_octets(message: bytes) -> None:
    """Check a message against RFC 5322 section 2.1: ASCII, only CRLF, lines within limits."""
    assert message.isascii()
    assert message.endswith(b"\r\n")
    assert not re.search(rb"\r(?!\n)|(?<!\r)\n", message)
    assert max(map(len, message.split(b"\r\n"))) <= 78


def test_small_mail() -> None:
    """A small mail with every structure is built exactly as written here."""
    expected = """\
Date: Fri, 20 Nov 2026 09:30:00 +0000
From: "Shop" <no-reply@shop.example>
To: ann@mail.example, bob@mail.example
Cc: cat@mail.example
Reply-To: help@shop.example
Subject: Your receipt
MIME-Version: 1.0
Content-Type: multipart/mixed;
 boundary="=_mixed_MARK"

--=_mixed_MARK
Content-Type: multipart/alternative;
 boundary="=_alternative_MARK"

--=_alternative_MARK
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

Thank you.

--=_alternative_MARK
Content-Type: multipart/related; type="text/html";
 boundary="=_related_MARK"

--=_related_MARK
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<p>Thank you.</p>

--=_related_MARK
Content-Type: image/png
Content-Transfer-Encoding: base64
Content-Disposition: inline; filename="logo.png"
Content-ID: <logo>

iVBORw==
--=_related_MARK--
--=_alternative_MARK--
--=_mixed_MARK
Content-Type: application/pdf
Content-Transfer-Encoding: base64
Content-Disposition: attachment; filename="receipt.pdf"

JVBERi0xLjc=
--=_mixed_MARK--
"""
    mail = replace(
        MAIL,
        to=("ann@mail.example", "bob@mail.example"),
        cc=("cat@mail.example",),
        reply_to=("help@shop.example",),
        attachments=(PDF, LOGO),
    )

    message = build(mail)

    mark = re.findall(rb'"=_mixed_([0-9a-f]{32})"', message)[0]
    assert message == expected.replace("\n", "\r\n").encode().replace(b"MARK", mark)


@pytest.mark.parametrize(
    ("attachments", "structure"),
    [
        ((), ["alternative", "text/plain", "text/html"]),
        ((LOGO,), RICH),
        (
            (PDF, NOTE),
            ["mixed", ["alternative", "text/plain", "text/html"], "application/pdf", "text/plain"],
        ),
        ((PDF, LOGO, NOTE), [*WHOLE, "text/plain"]),
    ],
)
def test_structure(attachments: tuple[Attachment, ...], structure: list[object]) -> None:
    parsed = read(build(replace(MAIL, attachments=attachments)))

    assert tree(parsed) == structure
    html, plain = parsed.get_body(("html",)), parsed.get_body(("plain",))
    assert html is not None
    assert plain is not None
    assert html.get_content() == "<p>Thank you.</p>\r\n"
    assert plain.get_content() == "Thank you.\r\n"


def test_content_types_are_lower_cased() -> None:
    upper_case = replace(PDF, content_type="Application/PDF")

    assert b"\r\nContent-Type: application/pdf\r\n" in build(
        replace(MAIL, attachments=(upper_case,))
    )


@given(st.binary(max_size=400) | st.sampled_from([19455, 14592, 29184, 57]).map(bytes))
@pytest.mark.slow
def test_attachment_decodes_to_its_bytes(content: bytes) -> None:
    file = replace(PDF, content=base64.b64encode(content).decode())

    message = build(replace(MAIL, attachments=(file,)))

    [attached] = read(message).iter_attachments()
    assert attached.get_payload(decode=True) == content
    payload = cast("str", attached.get_payload())
    assert all(len(line) == 76 for line in payload.split("\r\n")[:-1])
    check_octets(message)


@given(BODY, BODY)
@pytest.mark.slow
def test_bodies_round_trip(text: str, html: str) -> None:
    """Both parsers return any body with CRLF line ends, and the octets follow RFC 5322."""
    message = build(replace(MAIL, text=text, html=html, attachments=(LOGO, PDF)))

    check_octets(message)
    plain, rich = [
        cast("bytes", part.get_payload(decode=True))
        for part in email.message_from_bytes(message).walk()
        if part.get_content_maintype() == "text"
    ]
    assert plain.decode() == with_line_ends(text)
    assert rich.decode() == with_line_ends(html)
    assert tree(read(message)) == WHOLE


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Thank you.\n" * 50, b"quoted-printable"),
        ("Größe und Maß stehen auf der Rechnung.\n" * 50, b"quoted-printable"),
        ("ありがとうございます。\n" * 50, b"base64"),
    ],
)
def test_shorter_encoding_is_chosen(text: str, encoding: bytes) -> None:
    message = build(replace(MAIL, text=text))

    assert re.findall(rb"Content-Transfer-Encoding: (\S+)", message)[0] == encoding
    check_octets(message)


@for_each(
    "body",
    [
        "x" * 100_000,
        "ü" * 5000,
        ("a" * 75 + " \t") * 50,
        ".\r\n..\n.x\r.",
        "From x\n",
        "=\n=",
        "\r",
    ],
)
def test_awkward_bodies(body: str) -> None:
    """Long lines, dots at line starts, trailing spaces and odd line ends are preserved."""
    message = build(replace(MAIL, html=body))

    check_octets(message)
    [rich] = [
        part
        for part in email.message_from_bytes(message).walk()
        if part.get_content_type() == "text/html"
    ]
    assert cast("bytes", rich.get_payload(decode=True)).decode() == with_line_ends(body)
    assert not re.search(rb"(?m)^\.\r$", message)


def test_same_mail_same_octets() -> None:
    mail = replace(MAIL, attachments=(PDF, LOGO))
    other = replace(mail, message_id=UUID(int=1))

    assert build(mail) == build(mail)
    boundaries = set(re.findall(rb'boundary="([^"]+)"', build(mail)))
    assert len(boundaries) == 3
    assert boundaries.isdisjoint(re.findall(rb'boundary="([^"]+)"', build(other)))


def test_body_cannot_close_its_part() -> None:
    lines = re.findall(rb"(?m)^--=_.*$", build(replace(MAIL, attachments=(PDF, LOGO))))
    body = b"\n".join(lines).decode()

    parsed = read(build(replace(MAIL, html=body, text=body, attachments=(PDF, LOGO))))

    assert tree(parsed) == WHOLE


def test_date_is_written_in_utc() -> None:
    date = datetime(2026, 11, 20, 11, 0, tzinfo=timezone(timedelta(hours=1, minutes=30)))

    assert b"Date: Fri, 20 Nov 2026 09:30:00 +0000\r\n" in build(replace(MAIL, date=date))


INJECTION = "\r\nBcc: eve@evil.example"


@for_each(
    "mail",
    [
        replace(MAIL, sender=f"a@b.example{INJECTION}"),
        replace(MAIL, from_name=f"x{INJECTION}"),
        replace(MAIL, from_name=f"ü{INJECTION}"),
        replace(MAIL, to=(f"a@b.example{INJECTION}",)),
        replace(MAIL, to=("a@b.example,e@evil.example",)),
        replace(MAIL, cc=(f"a@b.example{INJECTION}",)),
        replace(MAIL, reply_to=(f"a@b.example{INJECTION}",)),
        replace(MAIL, subject=f"x{INJECTION}"),
        replace(MAIL, subject="\ud800"),
        replace(MAIL, html="\ud800"),
        replace(MAIL, attachments=(replace(PDF, filename=f"x{INJECTION}"),)),
        replace(MAIL, attachments=(replace(PDF, content_type=f"text/plain{INJECTION}"),)),
        replace(MAIL, attachments=(replace(PDF, content_type="text/plain; x=y"),)),
        replace(MAIL, attachments=(replace(PDF, content_type="text/plain; method=A\n"),)),
        replace(MAIL, attachments=(replace(PDF, content=f"AAAA{INJECTION}"),)),
        replace(MAIL, attachments=(replace(PDF, content="AA--"),)),
        replace(MAIL, attachments=(replace(PDF, content="ÄÄÄÄ"),)),
        replace(MAIL, attachments=(replace(LOGO, content_id=f"x{INJECTION}"),)),
        replace(MAIL, attachments=(replace(LOGO, content_id="a>b"),)),
        replace(MAIL, attachments=(replace(LOGO, content_id="ü"),)),
        replace(MAIL, attachments=(replace(LOGO, content_id=None),)),
        replace(MAIL, date=datetime(2026, 11, 20, 9, 30)),  # noqa: DTZ001  has no time zone on purpose
    ],
)
def test_no_value_can_inject_a_field(mail: OutgoingMail) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  each reason has its own text
        build(mail)
    assert "evil" not in str(caught.value)
