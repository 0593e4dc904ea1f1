"""Messages over SMTP: what counts as a file, of which type, and what belongs to the message."""

from base64 import b64encode

import pytest

from local.ses.checks import check_message
from pillarbox.domain.errors import ServiceError
from tests.refusals import refusal
from tests.unit.application.test_application_smtp import FROM
from tests.unit.application.test_application_smtp_sendable import sent

OLE2 = bytes.fromhex("d0cf11e0a1b11ae1")
WEBP = b"RIFF\x0a\0\0\0WEBPVP8 "


def file(label: str, name: str, content: bytes, encoding: str = "base64") -> str:
    escaped = "".join(f"={octet:02X}" for octet in content)
    encoded = b64encode(content).decode() if encoding == "base64" else escaped
    return (
        f"{FROM}Content-Type: multipart/mixed; boundary=b1\r\n\r\n--b1\r\n\r\nhi\r\n--b1\r\n"
        f'Content-Type: {label}; name="{name}"\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n'
        f"{encoded}\r\n--b1--\r\n"
    )


def second(container: str, part: str, first: str = "\r\nhi") -> str:
    """Return a message with two parts; its type, and the second one from its header on."""
    return (
        f"{FROM}Content-Type: multipart/{container}; boundary=b1\r\n\r\n"
        f"--b1\r\n{first}\r\n--b1\r\n{part}\r\n--b1--\r\n"
    )


def third(part: str) -> str:
    """Return a report of delivery with a third part, written from its header on."""
    status = "Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; a.example\r\n"
    return second("report; report-type=delivery-status", f"{status}\r\n--b1\r\n{part}")


def is_unchanged(message: str) -> bool:
    """Return whether SES gets the message octet for octet, after the date that was missing."""
    raw = sent(message)
    check_message(raw)
    return raw.endswith(message.encode())


def refused_as_file(message: str) -> ServiceError:
    error = refusal(sent, message)
    assert error.code == "attachment_type_not_allowed"
    return error


@pytest.mark.parametrize(
    ("label", "name"),
    [
        *(("application/ics", "invite.ics"), ("image/jpg", "a.jpg"), ("image/pjpeg", "a.jpg")),
        *(("application/x-pdf", "a.pdf"), ("application/csv", "a.csv"), ("Text/X-CSV", "a.csv")),
        *(("text/comma-separated-values", "a.csv"), ("application/msexcel", "a.xls")),
    ],
)
def test_other_names_of_allowed_types(label: str, name: str) -> None:
    """What programs call an allowed type is accepted and sent as it is written."""
    assert is_unchanged(file(label, name, b"x"))


@pytest.mark.parametrize(
    "label", ["application/octet-stream", "Application/X-Download", "binary/octet-stream"]
)
@pytest.mark.parametrize("encoding", ["base64", "quoted-printable"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("x.pdf", b"%PDF-1.4\n"), ("X.PNG", b"\x89PNG\r\n\x1a\n\0"), ("x.gif", b"GIF89a")),
        *(("x.jpg", b"\xff\xd8\xff\xe0"), ("x.jpeg", b"\xff\xd8\xff\xe0"), ("x.webp", WEBP)),
        *(("x.doc", OLE2), ("x.xls", OLE2), ("x.ppt", OLE2), ("x.docx", b"PK\x03\x04x")),
        *(("x.xlsx", b"PK\x03\x04"), ("x.pptx", b"PK\x03\x04"), ("x.txt", b"")),
        *(("x.csv", "Stra\u00dfe;1\r\n".encode()), ("x.csv", b"Stra\xdfe\t1\r\n")),
        ("x.ics", b"BEGIN:VCALENDAR\r\n"),
    ],
)
def test_a_label_that_says_nothing(label: str, encoding: str, name: str, content: bytes) -> None:
    """The type is that of the name if the file begins so; else the refusal says the right label."""
    assert is_unchanged(file(label, name, content, encoding))
    other = b"\0" if name.endswith(("txt", "csv", "ics")) else b""
    error = refused_as_file(file(label, name, other + b"hello", encoding))
    assert "cannot be attached; label it " in error.message


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("x.zip", b"PK\x03\x04"), ("x", b"%PDF-"), ("pdf.", b"%PDF-"), ("x.exe", b"hello")),
        *(("x.pdf", b"MZ%PDF-"), ("x.docx", b"MZPK\x03\x04"), ("x.txt", b"MZ"), ("x.csv", b"a\0")),
        *(("x.webp", b"RIFF\0\0\0\0WAVE"), ("x.csv", b"x" * 1_400 + b"\0"), ("x.txt", b"\x7fELF")),
        ("x.pdf\r\n\t.exe", b"%PDF-"),
    ],
)
def test_no_other_file_slips_through(name: str, content: bytes) -> None:
    """A program, another type, or a file that is not what its name says, is refused."""
    refused_as_file(file("application/octet-stream", name, content))


def test_two_names_have_no_type() -> None:
    """A file that is a PDF in one program and a text in another has neither type."""
    message = file("application/octet-stream", "x.pdf", b"%PDF-1.4")
    both = message.replace("Content-Transfer", "Content-Disposition: x; name=a.txt\r\nContent-T", 1)
    refused_as_file(both.replace("Content-T-", "Content-Transfer-"))


RETURNED = f"Content-Type: message/rfc822\r\n\r\n{FROM}Subject: x\r\n"
SIGNED = 'signed; protocol="application/{0}-signature"'
ENCRYPTED = 'encrypted; protocol="application/pgp-encrypted"'
VERSION = "Content-Type: application/pgp-encrypted\r\n\r\nVersion: 1"
ARMORED = "\r\n\r\n-----BEGIN PGP MESSAGE-----\r\n\r\nAAAA\r\n-----END PGP MESSAGE-----"
AMP = "Content-Type: text/x-amp-html\r\n\r\n<html amp4email>"


@pytest.mark.parametrize(
    "message",
    [
        third("Content-Type: text/rfc822-headers\r\n\r\nSubject: x"),
        third(f"{RETURNED}\r\nhi"),
        third(f"{RETURNED}Content-Type: application/pdf; name=x.pdf\r\n\r\n%PDF-1.4"),
        third(f"{RETURNED}Content-Type: text/html\r\n\r\n<p>x"),
        second("report", "Content-Type: message/disposition-notification\r\n\r\nReporting-UA: x"),
        second("report", "Content-Type: message/global-delivery-status\r\n\r\nReporting-MTA: x"),
        second(
            SIGNED.format("pkcs7"),
            'Content-Type: application/pkcs7-signature; name="smime.p7s"\r\n'
            "Content-Transfer-Encoding: base64\r\n"
            "Content-Disposition: attachment; filename=smime.p7s\r\n\r\nMIAGCSqGSIb3DQEHAqCA",
        ),
        second(SIGNED.format("x-pkcs7"), "Content-Type: Application/X-Pkcs7-Signature\r\n\r\nMIAG"),
        second(
            SIGNED.format("pgp"),
            "Content-Type: application/pgp-signature; name=signature.asc\r\n\r\n-----BEGIN",
        ),
        second(ENCRYPTED, f"Content-Type: application/octet-stream{ARMORED}", VERSION),
        second(
            ENCRYPTED,
            f"Content-Type: application/octet-stream; name=encrypted.asc{ARMORED}",
            VERSION,
        ),
        second("alternative", AMP),
        second("alternative", "Content-Type: text/calendar; method=REQUEST\r\n\r\nBEGIN:VCALENDAR"),
    ],
)
def test_form_is_no_file(message: str) -> None:
    """Reports, signatures, encrypted text and alternatives of the text are sent unchanged."""
    assert is_unchanged(message)


EXE = "Content-Disposition: attachment; filename=x.exe\r\n\r\nx"


@pytest.mark.parametrize(
    "message",
    [
        # in the right place, but it could be opened
        third(f"Content-Type: text/rfc822-headers\r\n{EXE}"),
        third("Content-Type: message/rfc822; name=x.html\r\n\r\nSubject: x\r\n"),
        third("Content-Type: message/delivery-status\r\n\r\nMZ"),
        third(f"{RETURNED}Content-Type: application/zip\r\n\r\nPK"),
        third(f"{RETURNED}Content-Type: application/pdf\r\n{EXE}"),
        third(f"{RETURNED}Content-Type: text/plain\r\n{EXE}"),
        third(
            f"Content-Type: message/rfc822\r\n\r\n{second('mixed', f'{EXE}').replace('b1', 'i')}"
        ),
        second(SIGNED.format("pgp"), f"Content-Type: application/pgp-signature\r\n{EXE}"),
        second(SIGNED.format("pkcs7"), "Content-Type: application/pkcs7-signature\r\n\r\n\x7fELF"),
        second("alternative", f"Content-Type: text/x-amp-html\r\n{EXE}"),
        second(ENCRYPTED, "Content-Type: application/octet-stream; name=x.docm" + ARMORED, VERSION),
        second(ENCRYPTED, "Content-Type: application/octet-stream\r\n\r\nPK\x03\x04", VERSION),
        second(
            "alternative", AMP.replace("\r\n\r\n", "\r\nContent-Disposition: attachment\r\n\r\n")
        ),
        # what such a message has no place for
        third("Content-Type: application/zip\r\n\r\nPK"),
        third("Content-Type: application/pgp-signature\r\n\r\nx"),
        second("report", "\r\nhi", "Content-Type: message/delivery-status\r\n\r\nx"),
        second("mixed", RETURNED),
        second("mixed", "Content-Type: message/delivery-status\r\n\r\nx"),
        second("mixed", AMP),
        second("digest", "\r\nSubject: x\r\n\r\nhi"),
        second(SIGNED.format("pgp"), "Content-Type: application/pkcs7-signature\r\n\r\nx"),
        second("signed; protocol=application/zip", "Content-Type: application/zip\r\n\r\nPK"),
        second("signed", "Content-Type: application/pgp-signature\r\n\r\nx"),
        second(
            SIGNED.format("pgp"),
            "\r\nhi\r\n--b1\r\nContent-Type: application/pgp-signature\r\n\r\nx",
        ),
        second(ENCRYPTED, f"Content-Type: application/octet-stream{ARMORED}", "\r\nhi").replace(
            "encrypted;", "mixed;"
        ),
        f"{FROM}Content-Type: application/pkcs7-mime; name=smime.p7m\r\n\r\nMIAG",
        f"{FROM}{RETURNED}",
    ],
)
def test_no_file_passes_as_form(message: str) -> None:
    """What claims to be form is refused in the wrong place, or if someone could open it."""
    refused_as_file(message)


def test_what_a_report_returns_is_parsed_as_a_message() -> None:
    """An encoded message, or one that readers see differently, is refused in a report too."""
    for part in (
        "Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\nRnJvbTogYQ0K",
        f"{RETURNED}Content-Type: multipart/mixed\r\n\r\nx",
        f"{RETURNED}no field\r\n\r\nx",
    ):
        assert refusal(sent, third(part)).message.endswith("(part 3)")


def test_returned_reports_are_counted() -> None:
    """Eight reports within each other are accepted, and twelve have too many parts."""
    messages = [f"{FROM}Subject: x\r\n\r\nhi"]
    for number in range(12):
        messages.append(
            f"{FROM}Content-Type: multipart/report; boundary=r{number:02}\r\n\r\n--r{number:02}"
            "\r\n\r\nhi\r\n"
            f"--r{number:02}\r\nContent-Type: message/rfc822\r\n\r\n{messages[-1]}\r\n"
            f"--r{number:02}--\r\n"
        )
    assert is_unchanged(messages[8])
    assert refusal(sent, messages[12]).code == "validation_failed"
