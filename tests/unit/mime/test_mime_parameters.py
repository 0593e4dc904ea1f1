"""File names and boundaries in every form of RFC 2045, 2047, 2183 and 2231."""

import pytest

from pillarbox.domain.errors import ValidationFailed
from pillarbox.mime.parameters import read_disposition, read_type
from tests.refusals import faults


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        (b"filename=a.pdf", ["a.pdf"]),
        (b'FileName = "a b.pdf"', ["a b.pdf"]),
        (b'filename="a\\"b.pdf"', ['a"b.pdf']),
        (b'filename="a\tb.pdf"', ["a b.pdf"]),
        (b'filename="J\xc3\xb6rg.pdf"', ["Jörg.pdf"]),
        (b'filename="=?utf-8?q?J=C3=B6rg?= =?utf-8?q?=2Epdf?="', ["Jörg.pdf"]),
        (b"filename==?utf-8?b?YS5leGU=?=", ["a.exe"]),
        (b"filename*=utf-8''J%C3%B6rg.pdf", ["Jörg.pdf"]),
        (b"filename*=ISO-8859-1'de'J%F6rg.pdf", ["Jörg.pdf"]),
        (b"filename*=a%2Eexe", ["a.exe"]),
        (b"filename*=''a.exe", ["a.exe"]),
        (b"filename*0=a.; filename*1=exe", ["a.exe"]),
        (b"filename*1=exe; filename*0=a.", ["a.exe"]),
        (b"filename*0*=utf-8''a%2E; filename*1=e; filename*2*=%78e", ["a.exe"]),
        (b"filename*0*=utf-8''J%C3; filename*1*=%B6rg", ["Jörg"]),
        (b"filename=a.pdf; filename*=utf-8''b.pdf; filename*0=c.pdf", ["a.pdf", "b.pdf", "c.pdf"]),
        (b"filename=a.pdf; filename*=utf-8''a.pdf", ["a.pdf"]),
        (b'filename="a.pdf "', ["a.pdf "]),
        (b'filename=""', ["unnamed"]),
        (b"size=1", []),
    ],
)
def test_every_reading_of_a_name(parameters: bytes, names: list[str]) -> None:
    """Programs prefer different forms of a name, so each form is read."""
    assert list(read_disposition(b"attachment; " + parameters).names(b"filename")) == names


@pytest.mark.parametrize(
    "parameters",
    [
        *(b"filename*1=exe", b"filename*0=a; filename*2=b", b"filename*00=a", b"filename*x=a"),
        *(b"filename*0=a; filename*0*=utf-8''b", b"filename*0=a; filename*1*=b"),
        *(b"filename*0*0=a", b"filename*=x-unknown''a", b"filename*=hex''61", b"filename**=a"),
        *(b'filename="=?x-unknown?q?a?="', b'filename="=?utf-8?q?a"', b"filename*100=a"),
    ],
)
def test_incomplete_names_are_refused(parameters: bytes) -> None:
    """A name with missing pieces or an unknown character set is refused."""
    disposition = read_disposition(b"attachment; " + parameters)
    assert faults(disposition.names, b"filename")[0][0] == "filename"


@pytest.mark.parametrize("value", [b"boundary=b", b'Boundary="b"', b"boundary=b; charset=x"])
def test_boundary(value: bytes) -> None:
    """A boundary is read with and without quotes."""
    assert read_type(b"multipart/mixed; " + value).boundary() == b"b"


@pytest.mark.parametrize(
    "value",
    [
        *(b"", b"boundary=", b"boundary*=utf-8''b", b"boundary*0=b", b"boundary=b; boundary*0=c"),
        *(b'boundary="\\b"', b'boundary="b "', b"boundary=" + b"b" * 71, b"boundary=b\xe4"),
    ],
)
def test_other_boundaries_are_refused(value: bytes) -> None:
    """A boundary in pieces, encoded, escaped, too long or missing is refused."""
    with pytest.raises(ValidationFailed):
        read_type(b"multipart/mixed; " + value).boundary()
