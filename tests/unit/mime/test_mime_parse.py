"""Parsing submitted messages: fields, parts, and ambiguous messages, which are refused."""

import base64
from collections import Counter
from email import message_from_bytes, policy
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.errors import ValidationFailed
from pillarbox.mime.fields import addresses_in, read_commented_mailbox, read_mailbox
from pillarbox.mime.parse import decoded_size, first_octets, parse
from tests.loops import for_each
from tests.refusals import fault, faults

MAX_DEPTH = 10
MAX_PARTS = 250


def crlf(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def multipart(*parts: str, boundary: str = "b") -> bytes:
    body = "".join(f"--{boundary}\n{part}\n" for part in parts)
    return crlf(f'Content-Type: multipart/mixed; boundary="{boundary}"\n\n{body}--{boundary}--\n')


def test_fields_are_unfolded_and_located() -> None:
    octets = crlf("From: a@b.example\nSUBJECT: one\n  two\nX:\n\nbody\n")
    parsed = parse(octets)
    assert [(field.name, field.value) for field in parsed.fields] == [
        (b"from", b"a@b.example"),
        (b"subject", b"one  two"),
        (b"x", b""),
    ]
    subject = parsed.all(b"subject")[0]
    assert octets[subject.start : subject.end] == b"SUBJECT: one\r\n  two\r\n"
    assert octets[parsed.body :] == b"body\r\n"


@pytest.mark.parametrize("octets", [b"", b"\r\n", b"From: a@b.example\r\n", b"\r\nbody\r\n"])
def test_minimal_messages(octets: bytes) -> None:
    """An empty message, only a header, and only a body each have one text part."""
    (part,) = parse(octets).parts
    assert part.content_type == "text/plain"


@for_each(
    "header",
    [
        *("no field\n", " begins with a space\n", "bad field name: x\n", "From : x\n"),
        *("From\t: x\n", "X: a\n \nBcc: b\n", "X: a\n\t \n b\n", ": x\n", "From ann Mon Jan  1\n"),
        "X: " + "x" * 1_000_000 + "\n",
        "X: x\n" * 1_001,
        "X: " + "x\n " * 60_000 + "\n",
    ],
)
def test_invalid_headers_are_refused(header: str) -> None:
    """A header with a line that is not a field, or with too many octets or fields, is refused."""
    assert faults(parse, crlf(header + "\nbody\n"))[0][1] == "bad_header"


def test_mail_loop() -> None:
    """A message with more than 100 Received fields is refused as a loop."""
    parse(crlf("Received: x\n" * 100 + "\n"))
    assert faults(parse, crlf("Received: x\n" * 101 + "\n"))[0][1] == "mail_loop"


def test_parts() -> None:
    """The parts of a typical message have their type, disposition and decoded size."""
    mail = EmailMessage()
    mail["From"] = "a@b.example"
    mail.set_content("Hello")
    mail.add_alternative("<p>Hello</p>", subtype="html")
    mail.add_attachment(b"%PDF" * 999, maintype="application", subtype="pdf", filename="ü.pdf")
    mail.add_attachment("a,b\r\n" * 99, subtype="csv", filename="list.csv", cte="quoted-printable")
    octets = mail.as_bytes(policy=policy.SMTP)
    parsed = parse(octets)
    summaries = [
        (part.content_type, part.disposition, decoded_size(octets, part)) for part in parsed.parts
    ]
    assert summaries == [
        ("text/plain", "", 7),
        ("text/html", "", 14),
        ("application/pdf", "attachment", 3996),
        ("text/csv", "attachment", 495),
    ]
    assert first_octets(octets, parsed.parts[2]).startswith(b"%PDF%PDF")
    # Each boundary occurs in its header field, before each part (two in the inner multipart,
    # three in the outer one), and at the end.
    occurrences = Counter(octets[start:end] for start, end in parsed.boundaries)
    assert sorted(occurrences.values()) == [4, 5]
    assert all(octets.count(boundary) == count for boundary, count in occurrences.items())


def test_a_delimiter_is_a_whole_line() -> None:
    octets = multipart("\nx --b\n--bc\n--b-- x\n", "\nsecond")
    parts = parse(octets).parts
    assert [octets[part.start : part.end] for part in parts] == [
        b"x --b\r\n--bc\r\n--b-- x\r\n",
        b"second",
    ]


def test_empty_parts_and_a_missing_end() -> None:
    octets = crlf("Content-Type: multipart/mixed; boundary=b\n\n--b\n\n--b\n\n--b\n\nlast\n")
    parts = parse(octets).parts
    assert [octets[part.start : part.end] for part in parts] == [b"", b"", b"last\r\n"]


@for_each(
    "octets",
    [
        multipart("Content-Type: text/plain\nContent-Type: text/html\n\nx"),
        multipart("Content-Disposition: inline\nContent-Disposition: attachment\n\nx"),
        multipart("Content-Transfer-Encoding: x-uuencode\n\nx"),
        multipart("Content-Type: nonsense\n\nx"),
        multipart("Content-Type: text/plain; a=b c\n\nx"),
        multipart("Content-Type: text/plain; a=1; a=2\n\nx"),
        multipart("Content-Disposition: @\n\nx"),
        multipart(*["\nx"] * (MAX_PARTS + 1)),
        crlf("Content-Type: multipart/mixed\n\n--b\n\n--b--\n"),
        crlf('Content-Type: multipart/mixed; boundary=""\n\n--\n\n----\n'),
        crlf("Content-Type: multipart/mixed; boundary=b\n\nno delimiter\n"),
        crlf(f"Content-Type: multipart/mixed; boundary={'b' * 71}\n\n--{'b' * 71}\n\n"),
        crlf("Content-Type: multipart/mixed; boundary=b\n\n" + "--bb\n" * 5_000 + "--b\n\n"),
    ],
)
def test_ambiguous_structures_are_refused(octets: bytes) -> None:
    assert faults(parse, octets)[0][1] == "bad_mime"


@for_each(
    ("octets", "field", "text"),
    [
        (multipart("\na", "Content-Type: text/plain; a=1; a=2\n\nb"), "Content-Type", "(part 2)"),
        (
            multipart("\na", multipart("b", boundary="c").decode().replace("\r\n", "\n")),
            "",
            "(part 2.1)",
        ),
        (multipart("\na", "Content-Transfer-Encoding: base64\n\n!"), "", "(part 2)"),
        (crlf("Content-Type: multipart/mixed; boundary=b\n\n--b\n--b--\n"), "", '"--b--" (part 1)'),
        (crlf("From: a\nno field\n\n"), "", ': "no field"'),
        (b"X: y\r\n" + b"z" * 39 + b"\xfc\0zz\r\n", "", f': "{"z" * 39}\\ufffd"'),
    ],
)
def test_a_fault_names_its_line_or_part(octets: bytes, field: str, text: str) -> None:
    """An error has the first 40 octets of the line that is no field, or the number of the part."""
    error = fault(parse, octets)
    assert error.field == field
    assert error.message.endswith(text)


@for_each(
    ("written", "encoding"),
    [
        *(
            ("7bit (comment)", b"7bit"),
            ("quoted-printable;", b"quoted-printable"),
            ("8-Bit", b"8bit"),
        ),
        *(("BASE64 ", b"base64"), ("binary", b"binary"), ("7-bit", b"7bit")),
    ],
)
def test_encodings_as_programs_write_them(written: str, encoding: bytes) -> None:
    field = f"Content-Transfer-Encoding: {written}\n"
    (part,) = parse(crlf(f"{field}\n")).parts
    assert part.encoding == encoding
    if written != "binary":
        faults(parse, crlf(field) + multipart("\na"))


@for_each(
    "written",
    ["7bit (base64)", "8bit (Quoted-Printable)", "7bit base64", "7 bit", "8bit (a", "bit"],
)
def test_other_encodings_are_refused(written: str) -> None:
    assert faults(parse, crlf(f"Content-Transfer-Encoding: {written}\n\n")) == [
        ("Content-Transfer-Encoding", "bad_mime")
    ]


def nested(depth: int) -> bytes:
    header = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (level, level)
        for level in range(depth)
    )
    return header + b"\r\nbottom\r\n"


def test_depth() -> None:
    """Parts may be nested ten levels deep; eleven and a thousand levels are refused."""
    assert len(parse(nested(MAX_DEPTH)).boundaries) == 2 * MAX_DEPTH
    for depth in (MAX_DEPTH + 1, 1_000):
        with pytest.raises(ValidationFailed):
            parse(nested(depth))


@given(st.binary(max_size=600))
def test_decoded_size_of_base64(content: bytes) -> None:
    octets = b"Content-Transfer-Encoding: base64\r\n\r\n" + base64.encodebytes(content).replace(
        b"\n", b"\r\n"
    )
    (part,) = parse(octets).parts
    assert decoded_size(octets, part) == len(content)


LINES = st.lists(
    st.sampled_from(
        [
            b"Content-Type: multipart/mixed; boundary=b",
            b"Content-Type: multipart/alternative; boundary=bb",
            b'Content-Type: text/html; charset="utf-8',
            b"Content-Disposition: attachment; filename*0=x",
            *(b"Content-Transfer-Encoding: base64", b"--b", b"--bb", b"--b--", b"--bb--", b""),
            *(b" folded", b"\xff\x00=?utf-8?q?=FF?="),
        ]
    )
    | st.binary(max_size=40).map(lambda octets: octets.replace(b"\r", b"").replace(b"\n", b"")),
    max_size=40,
)


@given(LINES)
def test_any_octets_are_parsed_or_refused(lines: list[bytes]) -> None:
    octets = b"\r\n".join(lines)
    try:
        parsed = parse(octets)
    except ValidationFailed:
        return
    for part in parsed.parts:
        assert 0 <= part.start <= part.end <= len(octets)
        assert decoded_size(octets, part) >= 0
        first_octets(octets, part)


@given(
    st.recursive(
        st.binary(max_size=50).map(lambda content: ("leaf", content)),
        lambda children: st.lists(children, min_size=1, max_size=3).map(lambda c: ("multi", c)),
        max_leaves=8,
    )
)
def test_parts_agree_with_the_standard_library(tree: tuple[str, object]) -> None:
    def write(node: tuple[str, object], name: str) -> bytes:
        kind, content = node
        if kind == "leaf":
            assert isinstance(content, bytes)
            encoded = base64.encodebytes(content).replace(b"\n", b"\r\n")
            return b"Content-Transfer-Encoding: base64\r\n\r\n" + encoded
        assert isinstance(content, list)
        parts = b"".join(
            b"--" + name.encode() + b".\r\n" + write(child, f"{name}{i}") + b"\r\n"
            for i, child in enumerate(content)
        )
        head = f"Content-Type: multipart/mixed; boundary={name}.\r\n\r\n".encode()
        return head + parts + b"--" + name.encode() + b".--\r\n"

    octets = write(tree, "n")
    theirs = [
        part.get_payload(decode=True)
        for part in message_from_bytes(octets).walk()
        if not part.is_multipart()
    ]
    ours = [base64.decodebytes(octets[part.start : part.end]) for part in parse(octets).parts]
    assert ours == theirs


@for_each(
    ("value", "name", "address"),
    [
        (b"a@b.example", None, "a@b.example"),
        (b"<a@b.example>", None, "a@b.example"),
        (b"Ann <a@b.example>", "Ann", "a@b.example"),
        (b"John Q. Public <a@b.example> ", "John Q. Public", "a@b.example"),
        (
            b'"Ann, \\"the\\" <x@y.example>" <a@b.example>',
            'Ann, "the" <x@y.example>',
            "a@b.example",
        ),
        (b"=?utf-8?q?J=C3=B6rg?= <a@b.example>", "Jörg", "a@b.example"),
        (b"=?nonsense?q?J=C3=B6rg?= <a@b.example>", "Jörg", "a@b.example"),
        ("Jörg <a@b.example>".encode(), "Jörg", "a@b.example"),
    ],
)
def test_mailboxes(value: bytes, name: str | None, address: str) -> None:
    for mailbox in (read_mailbox(value), read_commented_mailbox(value)):
        assert mailbox is not None
        assert (mailbox.name, mailbox.address) == (name, address)


@for_each(
    ("value", "name"),
    [
        (b"a@b.example (Cron Daemon)", "Cron Daemon"),
        (b"a@b.example(Cron\tDaemon)", "Cron\tDaemon"),
        (b"(Cron) <a@b.example>", "Cron"),
        (b"(Cron) a@b.example (Daemon)", "Cron Daemon"),
        (b"Ann <a@b.example> (c@d.example)", "Ann"),
        (b'"Ann (x" (y) <a@b.example> (z)', "Ann (x"),
        (b'a@b.example (Ann "Nan" Day)', 'Ann "Nan" Day'),
        (b"a@b.example (=?utf-8?q?J=C3=B6rg?=)", "J\u00f6rg"),
        (b"a@b.example ()", None),
    ],
)
def test_comments_around_an_address(value: bytes, name: str | None) -> None:
    mailbox = read_commented_mailbox(value)
    assert mailbox is not None
    assert (mailbox.name, mailbox.address) == (name, "a@b.example")
    assert read_mailbox(value) is None


@for_each(
    "value",
    [
        *(b"", b"Ann", b"a@b.example, c@d.example", b"a@b.example <c@d.example>"),
        *(b"Ann <a@b.example> <c@d.example>", b"Ann <a@b.example> (<c@d.example>)"),
        *(b"<a@b.example>,<c@d.example>", b"group: a@b.example;"),
        *(b"a(x)@b.example", b"a@b(x).example", b"<a@b.example (x)>", b"(x)", b"a@b.example (x"),
        *(b"a@b.example x)", b"a@b.example ((x))", b'a@b.example (\\")', b"a@b.example (x) c"),
        b'(") "x <c@d.example>" (") <a@b.example>',
        *(b"<@relay.example:a@b.example>", b'"unclosed <a@b.example>'),
        *(b"a@b.example\0<c@d.example>", b"a@[127.0.0.1]"),
        "ä@b.example".encode(),
    ],
)
def test_other_values_are_not_a_mailbox(value: bytes) -> None:
    assert read_mailbox(value) is None
    assert read_commented_mailbox(value) is None


def test_addresses() -> None:
    assert addresses_in(b'"Ann, B" <Ann@B.example>, c@d.example (x)') == {
        "ann@b.example",
        "c@d.example",
    }
