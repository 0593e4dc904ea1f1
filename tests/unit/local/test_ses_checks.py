"""The checks of the SES stand-in: which raw messages SES refuses, and with which text."""

import pytest

from local.ses.addresses import addresses_in, check_address
from local.ses.checks import check_message
from local.ses.errors import SesError

FROM = b"From: post@sender.example\r\n"


def multipart(part: bytes) -> bytes:
    head = FROM + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    return head + b"--b\r\n" + part + b"\r\n\r\nx\r\n--b--\r\n"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"Subject: x\r\n\r\n", "Missing required header 'From'"),
        (FROM + b"Subject: x\r\n", "no empty line"),
        (FROM + b": x\r\n\r\n", "Empty header names"),
        (FROM + b"<p>: x\r\n\r\n", None),
        (FROM + b"Subject : x\r\n\r\n", "Illegal header 'Subject '"),
        (FROM + b"Hello there\r\n\r\n", "Illegal header 'Hello there'"),
        (FROM + b"Cc: a@b.example\r\ncc: a@b.example\r\n\r\n", "Duplicate header 'Cc'"),
        (FROM + b"DKIM-Signature: a\r\n" * 2 + b"\r\n", "Duplicate header 'Dkim-Signature'"),
        (FROM + FROM + b"\r\n", "Duplicate header 'From'"),
        (FROM + b"List-Unsubscribe: a\r\n" + b"List-Unsubscribe: a\r\n\r\n", "Duplicate header"),
        (FROM + b"To: root\r\n\r\n", "Missing final '@domain'"),
        (FROM + b"Reply-To: a@b.example; c@d.example\r\n\r\n", "Illegal semicolon"),
        (FROM + b"X: " + b"x" * 996 + b"\r\n\r\n", "longer than 998 characters"),
        (FROM + b"X: " + b"x" * 996 + b"\n\n", "longer than 998 characters"),
        (FROM + b"X: " + b"x" * 995 + b"\r\n\r\n", None),
        (multipart(b"Content-Disposition: attachment; filename=a.exe"), "Illegal filename 'a.exe'"),
        (multipart(b"Content-Type: text/plain; name*0=a.; name*1=JS"), "Illegal filename 'a.JS'"),
        (multipart(b"Content-Disposition: x; filename==?utf-8?q?a=2Ebat?="), "Illegal filename"),
        (FROM + b"Content-Type: multipart/mixed\r\n\r\n", "not formatted properly"),
        (FROM + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n", "not formatted properly"),
        (FROM + b"Content-Type: text/plain; charset=cp-850\r\n\r\n", "Unsupported encoding cp-850"),
        (FROM + b"Content-Type: text/plain; charset=windows-874\r\n\r\n", None),
        (multipart(b"Content-Type: text/plain; charset=utf-9"), "Unsupported encoding utf-9"),
        (multipart(b"Content-Type: application/pdf; charset=binary"), None),
        (FROM + b"Content-Type: multipart/mixed; boundary=b; charset=x\r\n\r\n--b\r\n\r\n", None),
        (multipart(b"Content-Disposition: attachment; filename=a.exe.pdf"), None),
        (FROM + b"To: undisclosed-recipients:;\r\n\r\n", None),
        (FROM + b"Received: a\r\nReceived: b\r\n\r\n", None),
    ],
)
def test_raw_messages(raw: bytes, text: str | None) -> None:
    if text is None:
        assert check_message(raw)
        return
    with pytest.raises(SesError) as refused:
        check_message(raw)
    assert refused.value.error == "BadRequestException"
    assert text in refused.value.message


@pytest.mark.parametrize(
    ("value", "addresses"),
    [
        ("", []),
        ("a@b.example", ["a@b.example"]),
        ("Ann <a@b.example>, b@c.example,", ["a@b.example", "b@c.example"]),
        ('"Ann, B <x@y>" <a@b.example> (note)', ["a@b.example"]),
        ("friends: a@b.example, B <b@c.example>;", ["a@b.example", "b@c.example"]),
        ("undisclosed-recipients:;", []),
        ("a@b.example <c@d.example>", ["c@d.example"]),
        ('"a b"@c.example', ['"a b"@c.example']),
    ],
)
def test_address_lists(value: str, addresses: list[str]) -> None:
    assert list(addresses_in(value)) == addresses
    for address in addresses:
        check_address(address)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Ann", "Missing final '@domain'"),
        ("a b@c.example", "control or whitespace"),
        ("a@.c.example", "Domain starts with dot"),
        ("a@c.example.", "Domain ends with dot"),
        ("a@c..example", "Domain contains dot-dot"),
        (".a@c.example", "Local address starts with dot"),
        ("a@c_d.example", "Domain contains illegal character"),
        ("ä@c.example", "non-ASCII"),
        ("<a@b.example> <c@d.example>", "Extra route-addr"),
        ("Ann <a@b.example", "Missing"),
        ("Ann <a@b.example, c@d.example>", "Missing '>'"),
        ('"Ann <a@b.example>', "Missing '\"'"),
        ("(Ann a@b.example", "Missing ')'"),
        ("a: b: c@d.example;;", "Nested group"),
    ],
)
def test_malformed_addresses(value: str, text: str) -> None:
    with pytest.raises(SesError) as refused:
        any(map(check_address, addresses_in(value)))
    assert text in refused.value.message
