"""The inbox parses mails: bodies, parts, and malformed mails."""

import re
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.inbox.reading import part_content, read
from local.ses.headers import decoded, header_fields

PNG = b"\x89PNG\r\n\x1a\n picture"


def full_mail() -> EmailMessage:
    """Return a mail with text, HTML, an embedded picture, a file and an attached mail."""
    mail = EmailMessage()
    mail["From"] = "Pöst <post@sender.example>"
    mail["Subject"] = "Grüße"
    mail.set_content("Hello Ada\n")
    mail.add_alternative('<!doctype html><img src="cid:logo@x"><p>Hi</p>', subtype="html")
    html = mail.get_payload(1)
    assert isinstance(html, EmailMessage)
    html.add_related(PNG, "image", "png", cid="<logo@x>")
    mail.add_attachment(b"a,b\r\n", "text", "csv", filename="Köln.csv")
    attached = EmailMessage()
    attached["Subject"] = "inner"
    attached.set_content("inner text")
    mail.add_attachment(attached)
    return mail


@pytest.mark.parametrize(
    ("html", "remote"),
    [
        ('<img src="https://a.example/x.png">', True),
        ("<td background=http://a.example/x.png>", True),
        ("<p style=\"background:url('https://a.example/x')\">", True),
        ('<a href="https://a.example/">', False),
        ('<img src="cid:logo">', False),
    ],
)
def test_remote_images_are_detected(html: str, *, remote: bool) -> None:
    assert read(f"Content-Type: text/html\r\n\r\n{html}".encode()).has_remote_images is remote


@pytest.mark.parametrize(
    ("head", "text"),
    [
        (b"Content-Type: text/plain; charset=latin-1", "\xe4"),
        (b"Content-Type: text/plain; charset=nonsense", "\ufffd"),
        (b"Content-Type: text/plain", "\ufffd"),
    ],
)
def test_undecodable_text_gets_replacement_characters(head: bytes, text: str) -> None:
    assert read(head + b"\r\n\r\n\xe4").text == text


@pytest.mark.parametrize(
    ("charset", "octets", "text"),
    [
        ("us-ascii", b"\xc3\xbc", "ü"),
        ("ISO-8859-1", b"\x93a\x94", "“a”"),
        ("iso-8859-9", b"\x80\xfc", "€ü"),
        ("gb2312", b"\xe9\x46", "镕"),
        ("shift_jis", b"\x87\x40", "①"),
        ("ks_c_5601-1987", b"\x8c\x63", "똠"),
    ],
)
def test_the_name_of_a_smaller_charset_means_the_larger(
    charset: str, octets: bytes, text: str
) -> None:
    """As browsers read it, and as mailparser reads us-ascii."""
    head = f"Content-Type: text/html; charset={charset}\r\n\r\n"
    assert read(head.encode() + octets).html == text


def test_a_picture_may_be_named_as_a_url_is() -> None:
    """RFC 2392: what a URL cannot hold is written with %."""
    mail = full_mail().as_bytes().replace(b"cid:logo@x", b"cid:logo%40x")
    assert 'src="parts/2"' in read(mail).framed_html()


def test_an_invalid_type_becomes_octet_stream() -> None:
    (part,) = read(b"Content-Type: a/b\x01c\r\n\r\nx").parts
    assert part.content_type == "application/octet-stream"


@pytest.mark.slow
def test_deep_nesting_is_readable() -> None:
    raw = b"Subject: deep\r\n" + b"".join(
        b'Content-Type: multipart/mixed; boundary="b%d"\r\n\r\n--b%d\r\n' % (n, n)
        for n in range(1200)
    )
    assert ("Subject", "deep") in read(raw).headers
    check_readable(raw)


@given(st.binary(max_size=400))
def test_any_bytes_are_readable(raw: bytes) -> None:
    check_readable(raw)


_LINES = st.sampled_from(
    [
        b"Content-Type: multipart/mixed; boundary=b",
        b"Content-Type: text/html; charset=utf-7",
        b"Content-Type: text/plain; charset*=x'y'%ff",
        b"Content-Type: message/rfc822",
        b"Content-Disposition: attachment; filename*0*=utf-8''%ff; filename=\"=?x?b?//8=?=\"",
        b"Content-Transfer-Encoding: base64",
        b"Content-Transfer-Encoding: quoted-printable",
        b"Content-ID: <\xff\xfe>",
        b"Subject: =?utf-8?b?//8=?= =?none?q?=ff?=",
        b"",
        b"--b",
        b"--b--",
        b"+2AA-",
        b"//8=",
        b" folded\xff",
    ]
)


@given(st.lists(_LINES, max_size=20))
def test_any_mime_is_readable(lines: list[bytes]) -> None:
    check_readable(b"\r\n".join(lines))


def check_readable(raw: bytes) -> None:
    view = read(raw)
    for name, value in (*header_fields(raw), *view.headers):
        (name + decoded(value)).encode()
    (view.text or "").encode()
    view.framed_html().encode()
    for part in view.parts:
        assert re.fullmatch(r"[!-~]+", part.content_type)
        (part.filename or "").encode()
        (part.content_id or "").encode()
        assert len(part_content(raw, part.number)) == part.size
