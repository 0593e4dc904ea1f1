"""File names and boundaries in every form of RFC 2045, 2047, 2183 and 2231."""

import pytest

from pillarbox.domain.errors import ValidationFailed
from pillarbox.mime.parse import read_disposition, read_type
from tests.loops import for_each
from tests.refusals import faults


@for_each(
    ("parameters", "names"),
    [
        (b"filename=a.pdf", ["a.pdf"]),
        (b'FileName = "a b.pdf"', ["a b.pdf"]),
        (b'filename="a\\"b.pdf"', ['a"b.pdf', "a"]),
        (b'filename="a\\b.pdf"', ["ab.pdf"]),
        (b'filename="a\r\n b.pdf"', ["a b.pdf", "ab.pdf"]),
        (b"filename=report(1).pdf", ["report(1).pdf", "report.pdf", "report"]),
        (b"filename=my report.pdf", ["my report.pdf", "my"]),
        (b"filename=a.pdf (new)", ["a.pdf", "a.pdf (new)"]),
        (b'filename="a.pdf" (new)', ["a.pdf"]),
        (b'filename="a.pdf"; filename=a.pdf', ["a.pdf"]),
        (b'filename="a\tb.pdf"', ["a b.pdf"]),
        (b'filename="J\xc3\xb6rg.pdf"', ["Jörg.pdf"]),
        (b'filename="=?utf-8?q?J=C3=B6rg?= =?utf-8?q?=2Epdf?="', ["Jörg.pdf"]),
        (b'filename="=?utf-8?q?x=2Ej?=s"', ["x.js"]),
        (b'filename="=?us-ascii?q?x=2Ej?= =?utf-8?q?s?="', ["x.js"]),
        (b'filename="=?utf-8?q?x=2Ej?= s"', ["x.j s", "x.js"]),
        (b'filename="=?iso-2022-jp?q?x.=1B$B?= =?iso-2022-jp?q?js?="', ["x.褥", "x.js"]),
        (b"filename==?utf-8?b?YS5leGU=?=", ["a.exe"]),
        (b"filename*=utf-8''J%C3%B6rg.pdf", ["Jörg.pdf"]),
        (b"filename*=ISO-8859-1'de'J%F6rg.pdf", ["Jörg.pdf"]),
        (b"filename*=a%2Eexe", ["a.exe"]),
        (b"filename*=''a.exe", ["a.exe"]),
        (b"filename*0=a.; filename*1=exe", ["a.exe"]),
        (b"filename*1=exe; filename*0=a.", ["a.exe"]),
        (b"filename*0*=utf-8''a%2E; filename*1=e; filename*2*=%78e", ["a.exe"]),
        (b"filename*0*=utf-8''J%C3; filename*1*=%B6rg", ["Jörg", "J\ufffd\ufffdrg"]),
        (b"filename*0*=utf-8''x; filename*1=%2Ejs", ["x%2Ejs", "x.js"]),
        (b'filename*0="=?utf-8?q?x=2E"; filename*1="js?="', ["x.js"]),
        (b"filename=a.pdf; filename*=utf-8''b.pdf", ["a.pdf", "b.pdf"]),
        (b"filename=a.pdf; filename*0=b.; filename*1=pdf", ["a.pdf", "b.pdf"]),
        (b"filename=a.pdf; filename*=utf-8''a.pdf", ["a.pdf"]),
        (b'filename="a.pdf "', ["a.pdf "]),
        (b'filename=""', ["unnamed"]),
        (b"size=1", []),
    ],
)
def test_every_reading_of_a_name(parameters: bytes, names: list[str]) -> None:
    """Programs prefer different forms of a name, so each form is read."""
    assert list(read_disposition(b"attachment; " + parameters).names(b"filename")) == names


@for_each(
    "parameters",
    [
        *(b"filename*1=exe", b"filename*0=a; filename*2=b", b"filename*00=a", b"filename*x=a"),
        *(b"filename*0=a; filename*0*=utf-8''b", b"filename*0=a; filename*1*=b"),
        *(b"filename*0*0=a", b"filename*=x-unknown''a", b"filename*=hex''61", b"filename**=a"),
        *(b'filename="=?x-unknown?q?a?="', b'filename="=?utf-8?q?a"', b"filename*100=a"),
        *(b'filename="=?utf-7?q?a?="', b'filename="=?utf-16?q?a?="', b"filename*=cp037''a"),
        *(
            b"filename*=utf-8''a; filename*0=b",
            b'filename*0="a\\"b"',
            b'filename="=?utf-8?q?a?b?="',
        ),
    ],
)
def test_incomplete_names_are_refused(parameters: bytes) -> None:
    disposition = read_disposition(b"attachment; " + parameters)
    assert faults(disposition.names, b"filename")[0][0] == "filename"


@pytest.mark.parametrize("value", [b"boundary=b", b'Boundary="b"', b"boundary=b; charset=x"])
def test_boundary(value: bytes) -> None:
    """A boundary is read with and without quotes."""
    assert read_type(b"multipart/mixed; " + value).boundary() == b"b"


@for_each(
    "value",
    [
        *(b"", b"boundary=", b"boundary*=utf-8''b", b"boundary*0=b", b"boundary=b; boundary*0=c"),
        *(b'boundary="\\b"', b'boundary="b "', b"boundary=" + b"b" * 71, b"boundary=b\xe4"),
        *(
            b'boundary="a\r\n b"',
            b'boundary="a\r\n b"; x="a b"',
            b"boundary=b (c)",
            b"boundary=a b",
        ),
        *(b"boundary=b; boundary=c", b"(c); boundary=b"),
    ],
)
def test_other_boundaries_are_refused(value: bytes) -> None:
    with pytest.raises(ValidationFailed):
        read_type(b"multipart/mixed; " + value).boundary()


@pytest.mark.parametrize(
    "value",
    [
        *(
            b"text/plain; charset=us-ascii (Plain text)",
            b"text/plain (Plain text); charset=us-ascii",
        ),
        *(b'text/plain; charset="us-ascii" (x)', b"text/plain; charset=us-ascii; charset=us-ascii"),
        b"text/plain;\r\n\tcharset=us-ascii",
    ],
)
def test_what_programs_write_around_a_value(value: bytes) -> None:
    """A comment of plain words (RFC 2045 section 5.1), a fold and a repetition change no value."""
    assert (read_type(value).value, read_type(value).text(b"charset")) == (
        "text/plain",
        b"us-ascii",
    )


@for_each(
    "value",
    [
        *(b"text/plain; a=1; a=2", b"text/plain (; name=x.js)", b'text/plain; a=b (c="d")'),
        *(
            b"text/plain; a=b (c (d))",
            b"text/plain; a=b (c",
            b"text/plain; a=b c",
            b"text/plain; a",
        ),
    ],
)
def test_values_that_programs_read_differently_are_refused(value: bytes) -> None:
    with pytest.raises(ValidationFailed):
        read_type(value)


def test_a_field_has_at_most_100_parameters() -> None:
    for parameters in ([b"; a%d=b" % n for n in range(100)], [b"; a=b"] * 100):
        value = b"".join([b"text/plain", *parameters])
        assert read_type(value + b" ; ").value == "text/plain"
        assert faults(read_type, value + b"; x=y") == [("Content-Type", "bad_mime")]


@pytest.mark.parametrize("end", [b";;", b"; ;", b";" * 30_000, b";\r\n ;\r\n ", b";;charset=utf-8"])
def test_empty_parameters_are_refused(end: bytes) -> None:
    assert faults(read_type, b"text/plain" + end) == [("Content-Type", "bad_mime")]
    assert faults(read_disposition, b"inline" + end) == [("Content-Disposition", "bad_mime")]
