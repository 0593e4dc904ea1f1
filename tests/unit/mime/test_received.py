"""Mail that anybody may have written: nothing raises, and every number is bounded."""

import email
from collections.abc import Iterator
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.mime.received import decode_text, read_structure

_HOSTILE = {
    "nothing": b"",
    "only a header": b"Subject: Hi",
    "no header": b"\r\nHi",
    "an empty field name": b": x\r\nSubject: Hi\r\n\r\nHi",
    "100 levels": b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (level, level)
        for level in range(100)
    )
    + b"\r\nHi",
    "20,000 parts": b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    + b"--b\r\n\r\nx\r\n" * 20_000,
    "30,000 parameters": b"Content-Type: text/plain" + b"; a=b" * 30_000 + b"\r\n\r\nHi",
    "parameters in pieces": b"Content-Type: text/plain" + b'; name*0="b' * 30_000 + b"\r\n\r\nHi",
    "near boundaries": b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    + b"--bx--b--b" * 90_000,
    "open brackets": b"To: " + b'"<' * 60_000 + b"\r\n\r\n",
    "open comments": b"To: " + b"((" * 60_000 + b"\r\n\r\n",
    "open words": b"Subject: " + b"=?utf-8?q?" * 12_000 + b"\r\n\r\n",
    "a wrong charset": b"Content-Type: text/plain; charset=klingon\r\n\r\n\xff\xfe Hi",
    "base64 that breaks off": b"Content-Transfer-Encoding: base64\r\n\r\nSGVsbG8gV29ybGQhA",
    "a NUL": b"Subject: a\0b\r\n\r\n\0",
}


def everything(octets: bytes) -> Iterator[object]:
    """Read all of a mail."""
    structure = read_structure(octets)
    for name in ("from", "to", "cc", "subject"):
        yield structure.text(name)
        yield structure.mailboxes(name)
    for part in structure.parts:
        yield part.content(octets)
        yield decode_text(part, octets)


@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_mail_is_read(name: str) -> None:
    octets = _HOSTILE[name]
    assert len(read_structure(octets).parts) <= 500
    assert [*everything(octets)]


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_octets_are_read(head: bytes, body: bytes) -> None:
    mail = b"Content-Type: multipart/mixed; boundary=x\r\n" + head + b"\r\n\r\n--x" + body
    assert [*everything(mail)]


PARTS = st.lists(
    st.tuples(
        st.sampled_from(["text/plain", "text/html", "application/pdf", "text/calendar"]),
        st.sampled_from(["7bit", "base64", "quoted-printable"]),
        st.binary(max_size=60),
    ),
    min_size=1,
    max_size=5,
)


@given(PARTS)
def test_parts_are_those_that_python_reads(parts: list[tuple[str, str, bytes]]) -> None:
    """The standard library writes and reads what is compared here."""
    mail = EmailMessage()
    mail["Subject"] = "Grüße"
    mail.set_content("Hi")
    for kind, _, content in parts:
        main, _, sub = kind.partition("/")
        mail.add_attachment(content, maintype=main, subtype=sub, filename="Ähre.bin")
    octets = mail.as_bytes()
    read = email.message_from_bytes(octets)
    theirs = [
        (part.get_content_type(), part.get_payload(decode=True))
        for part in read.walk()
        if not part.is_multipart()
    ]
    structure = read_structure(octets)
    assert [(part.content_type, part.content(octets)) for part in structure.parts] == theirs
    assert structure.text("subject") == "Grüße"
    assert {part.filename for part in structure.parts[1:]} == {"Ähre.bin"}


def test_line_ends_may_be_lf_alone() -> None:
    mail = b"Subject: Hi\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nA\n--b\n\nB\n--b--\n"
    contents = [part.content(mail) for part in read_structure(mail).parts]
    assert contents == [b"A", b"B"]


def test_a_name_has_no_path() -> None:
    mail = b'Content-Type: text/plain; name="../../etc/passwd"\r\n\r\nHi'
    (part,) = read_structure(mail).parts
    assert part.filename == "passwd"
