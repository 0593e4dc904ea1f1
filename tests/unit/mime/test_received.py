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


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_an_empty_line_ends_the_header(end: bytes) -> None:
    """A line of blanks does not, and an indented text behind the header is no field."""
    mail = end.join((b"Subject: Hi", b" ", b"\tAda", b"To: a@b.example", b"", b"  Re: x", b"Yes."))
    structure = read_structure(mail)
    assert (structure.text("subject"), structure.text("to")) == ("Hi Ada", "a@b.example")
    assert structure.parts[0].content(mail) == b"  Re: x" + end + b"Yes."


@pytest.mark.parametrize("boundary", [b"", b'; boundary=""'])
def test_a_signature_ends_nothing(boundary: bytes) -> None:
    mail = b"Content-Type: multipart/mixed" + boundary + b"\r\n\r\nYes.\r\n-- \r\nAda"
    (part,) = read_structure(mail).parts
    assert (part.content_type, part.content(mail)) == ("text/plain", b"Yes.\r\n-- \r\nAda")


def test_a_boundary_may_be_in_pieces() -> None:
    mail = b'Content-Type: multipart/mixed; boundary*0="a b"; boundary*1=c\n\n--a bc\n\nYes.'
    (part,) = read_structure(mail).parts
    assert part.content(mail) == b"Yes."


@pytest.mark.parametrize("charset", ["", "; charset=us-ascii", "; charset=klingon"])
@pytest.mark.parametrize("octets", ["€, é".encode(), "€, é".encode("cp1252")])
def test_what_names_no_charset_is_read(charset: str, octets: bytes) -> None:
    head = b"Content-Type: text/plain%b\nContent-Disposition: inline; filename=%b\nSubject: %b\n\n"
    mail = head % (charset.encode(), octets, octets) + octets
    structure = read_structure(mail)
    (part,) = structure.parts
    texts = (structure.text("subject"), part.filename, decode_text(part, mail))
    assert texts == ("€, é", "€, é", "€, é")


def test_a_long_text_is_cut_in_a_character() -> None:
    mail = b"Subject: Hi\r\n\r\n." + "ö".encode() * 2 * 1024 * 1024
    (part,) = read_structure(mail).parts
    assert decode_text(part, mail)[:-1] == "." + "ö" * (2 * 1024 * 1024 - 1)


WORDS = ["Yes,", "Größe", "-", "From"]
PARAGRAPHS = st.lists(
    st.tuples(st.just(""), st.lists(st.sampled_from([*WORDS, ">5"]), min_size=1))
    | st.tuples(st.sampled_from([">", ">>", "> >"]), st.lists(st.sampled_from(WORDS), min_size=1)),
    min_size=1,
)


@given(PARAGRAPHS, st.sampled_from([("no", " "), ("yes", "  ")]))
def test_lines_that_a_program_broke_are_joined(
    paragraphs: list[tuple[str, list[str]]], broken: tuple[str, str]
) -> None:
    """Each word stands on a line of its own, with a blank before it (RFC 3676 section 4.4)."""
    del_sp, end = broken
    written = [f"{end}\n".join(f"{quote} {word}" for word in words) for quote, words in paragraphs]
    head = f"Content-Type: text/plain; charset=utf-8; format=flowed; delsp={del_sp}\n\n"
    mail = (head + "\n".join(written)).encode()
    (part,) = read_structure(mail).parts
    lines = [f"{quote} {' '.join(words)}" for quote, words in paragraphs]
    read = [line if line.startswith(" >") else line.removeprefix(" ") for line in lines]
    assert decode_text(part, mail) == "\n".join(read)


@pytest.mark.parametrize(
    ("name", "shown"),
    [("../../etc/passwd", "passwd"), ("10.15\u202fPM\u3000\u202e(\x1b1).png", "10.15 PM (1).png")],
)
def test_a_name_has_no_path(name: str, shown: str) -> None:
    """It has neither other blanks than the usual one, nor what is not printed."""
    (part,) = read_structure(f'Content-Type: text/plain; name="{name}"\r\n\r\nHi'.encode()).parts
    assert part.filename == shown


def test_a_name_in_any_characters_is_shown_before_a_plain_one() -> None:
    forms = "filename=\"J?rg.pdf\"; filename*=UTF-8''J%C3%B6rg.pdf"
    (part,) = read_structure(f"Content-Disposition: attachment; {forms}\r\n\r\nHi".encode()).parts
    assert part.filename == "Jörg.pdf"
