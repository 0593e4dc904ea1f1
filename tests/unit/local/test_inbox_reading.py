"""Taking mails apart for the inbox: bodies, parts, and whatever bytes someone sends."""

import re
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.inbox.reading import part_content, read
from local.ses.headers import decoded, header_fields

PNG = b"\x89PNG\r\n\x1a\n picture"


def full_mail() -> EmailMessage:
    """Text, HTML with an embedded picture, two attachments: one a mail."""
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


def test_bodies_and_parts_are_told_apart() -> None:
    """The two bodies are text; everything else is a part with its own name, type and size."""
    reading = read(full_mail().as_bytes())
    assert reading.text == "Hello Ada\n"
    assert reading.html is not None
    assert "<p>Hi</p>" in reading.html
    assert [(part.content_type, part.filename) for part in reading.parts] == [
        ("image/png", None),
        ("text/csv", "Köln.csv"),
        ("message/rfc822", None),
    ]
    assert reading.parts[0].content_id == "logo@x"
    assert reading.parts[0].inline
    assert reading.parts[1].size == 5
    assert ("Subject", "Grüße") in reading.headers


def test_parts_are_found_by_number() -> None:
    """A part's number gives its decoded bytes; an attached mail comes whole."""
    raw = full_mail().as_bytes()
    contents = [part_content(raw, part.number) for part in read(raw).parts]
    assert contents[:2] == [PNG, b"a,b\r\n"]
    assert b"inner text" in contents[2]
    with pytest.raises(LookupError):
        part_content(raw, 99)


def test_the_frame_finds_embedded_images() -> None:
    """cid: becomes the part's place; the base comes after the doctype, which keeps its effect."""
    reading = read(full_mail().as_bytes())
    number = reading.parts[0].number
    assert reading.framed_html().startswith('<!doctype html><base target="_blank">')
    assert f'<img src="parts/{number}">' in reading.framed_html()


def test_an_unknown_cid_stays_as_written() -> None:
    """A reference to nothing is shown as the fault it is."""
    html = read(b'Content-Type: text/html\r\n\r\n<HEAD x=y><img src="cid:none">').framed_html()
    assert html == '<HEAD x=y><base target="_blank"><img src="cid:none">'


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
def test_remote_images_are_noticed(html: str, *, remote: bool) -> None:
    """The page offers to load them only where there are some."""
    assert read(f"Content-Type: text/html\r\n\r\n{html}".encode()).has_remote_images is remote


@pytest.mark.parametrize(
    ("head", "text"),
    [
        (b"Content-Type: text/plain; charset=latin-1", "\xe4"),
        (b"Content-Type: text/plain; charset=nonsense", "\ufffd"),
        (b"Content-Type: text/plain", "\ufffd"),
    ],
)
def test_text_is_decoded_as_far_as_it_goes(head: bytes, text: str) -> None:
    """A wrong or unknown charset shows replacement characters, and no error."""
    assert read(head + b"\r\n\r\n\xe4").text == text


def test_a_type_that_is_none_is_bytes_of_any_kind() -> None:
    """A part's type becomes a header of the answer, so it must be fit to be one."""
    (part,) = read(b"Content-Type: a/b\x01c\r\n\r\nx").parts
    assert part.content_type == "application/octet-stream"


def test_deep_nesting_is_survived() -> None:
    """Multiparts within each other, deeper than the parser goes, leave headers and one part."""
    raw = b"Subject: deep\r\n" + b"".join(
        b'Content-Type: multipart/mixed; boundary="b%d"\r\n\r\n--b%d\r\n' % (n, n)
        for n in range(1200)
    )
    assert ("Subject", "deep") in read(raw).headers
    check(raw)


@given(st.binary(max_size=400))
def test_any_bytes_can_be_looked_at(raw: bytes) -> None:
    """Every mail gives headers, bodies and parts that can be sent as JSON."""
    check(raw)


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
def test_any_mime_can_be_looked_at(lines: list[bytes]) -> None:
    """The same for what is nearly a MIME message."""
    check(b"\r\n".join(lines))


def check(raw: bytes) -> None:
    reading = read(raw)
    for name, value in (*header_fields(raw), *reading.headers):
        (name + decoded(value)).encode()
    (reading.text or "").encode()
    reading.framed_html().encode()
    for part in reading.parts:
        assert re.fullmatch(r"[!-~]+", part.content_type)
        (part.filename or "").encode()
        (part.content_id or "").encode()
        assert len(part_content(raw, part.number)) == part.size
