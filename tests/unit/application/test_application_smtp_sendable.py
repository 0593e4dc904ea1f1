"""Messages over SMTP: what SES would refuse is refused; what counts as a file, and as which."""

from base64 import b64encode
from email import message_from_bytes, policy

import pytest

from local.ses.checks import RAW_LIMIT, check_message
from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.mime.parse import MESSAGE_FIELDS
from relay.limits import ServerLimits
from tests.fakes.builders import SENDER
from tests.fakes.client_messages import CLIENT_MESSAGES
from tests.fakes.hidden_words import HIDDEN_DIRECTIONS, HIDDEN_EXTENSIONS
from tests.fakes.world import World
from tests.loops import for_each
from tests.refusals import faults, refusal
from tests.unit.application.test_application_smtp import FROM, sent_bytes, submit


def sent(message: str | bytes) -> bytes:
    """Submit a message and return what SES would get."""
    world = World()
    submit(world, message)
    return sent_bytes(world)


@pytest.mark.parametrize("program", CLIENT_MESSAGES)
def test_messages_of_mail_programs_are_accepted(program: str) -> None:
    """What common mail programs write is accepted and sent unchanged, and SES accepts it."""
    written = CLIENT_MESSAGES[program]
    raw = sent(written)
    check_message(raw)
    assert raw.endswith(written.replace(b"Reply-To:\r\n", b""))
    assert message_from_bytes(raw, policy=policy.default).defects == []


@for_each(
    "header",
    [
        "Received: x\r\nReceived: y\r\n",
        "Subject: folded\r\n\twith a tab\r\n",
        # quotation marks of windows-1252
        "Subject: =?iso-8859-15?q?=93quoted=94?=\r\n",
    ],
)
def test_what_older_programs_and_hosts_write_is_accepted(header: str) -> None:
    assert is_unchanged(f"{FROM}{header}\r\nx\r\n")


@pytest.mark.parametrize("name", sorted(MESSAGE_FIELDS - {b"bcc", b"return-path"}))
def test_a_repeated_field_is_named(name: bytes) -> None:
    """A field that may occur only once but occurs twice is refused with its name."""
    field = name.decode()
    sent(f"{FROM}{field}: a@x.example\r\n\r\n")
    error = refusal(
        sent, f"{FROM}{field}: a@x.example\r\nX: y\r\n{field.upper()}: a@x.example\r\n\r\n"
    )
    assert isinstance(error, ValidationFailed)
    assert error.errors[0].code == "repeated_field"
    assert error.errors[0].field.lower() == field
    assert error.message.startswith(f"{error.errors[0].field}: occurs 2 times")


@pytest.mark.parametrize(
    "name", ["Bcc", "Return-Path", "Resent-Bcc", "X-SES-Source-Arn", "X-Api-Key"]
)
def test_fields_that_never_leave_may_repeat(name: str) -> None:
    """A field that is not delivered may occur twice, and so may Cc if only one has addresses."""
    field = f"{name}: <a@x.example>\r\n"
    assert b"a@x.example" not in sent(f"{FROM}{field}{field}\r\nx\r\n")
    assert sent(f"{FROM}Cc:\r\nCc: b@x.example\r\n\r\nx\r\n").count(b"Cc:") == 1


@pytest.mark.parametrize("field", ["To", "Cc", "Reply-To"])
@pytest.mark.parametrize(
    "value", ["root", "Ann", "a@x.example; b@x.example", "Ann <a@x.example", "a..b@x.example"]
)
def test_address_fields_hold_addresses(field: str, value: str) -> None:
    """A field that SES cannot read as a list of addresses is refused with its name."""
    assert faults(sent, f"{FROM}{field}: {value}\r\n\r\n")[0][0] == field


def test_empty_address_fields_are_removed() -> None:
    """Programs write an empty Cc or Reply-To: it is removed instead of refused."""
    assert b"Cc" not in sent(f"{FROM}Cc:\r\nReply-To: \r\nTo: a@x.example\r\n\r\nx\r\n")
    assert b"\r\nTo: a@x.example\r\n\r\nx\r\n" in sent(
        f"{FROM}To: a@x.example\r\nCc: \r\n\r\nx\r\n"
    )


@pytest.mark.parametrize("subject", ["x", "x" * 900])
@pytest.mark.parametrize("end", ["", "\r\n", "\r\n\r\n", "\r\nx\r\n"])
def test_the_header_has_an_empty_line_after_it(end: str, subject: str) -> None:
    raw = sent(f"{FROM}Subject: {subject}\r\n{end}")
    check_message(raw)
    assert raw.endswith(f"Subject: {subject}\r\n{end or '\r\n'}".encode())


@pytest.mark.parametrize("disposition", ["inline", "x-unknown"])
def test_a_text_is_a_file_only_if_it_says_so(disposition: str) -> None:
    """A text with another disposition than attachment, and without a name, is the email itself."""
    header = f"{FROM}Content-Type: text/html\r\nContent-Disposition:"
    sent(f"{header} {disposition}\r\n\r\n<p>Hi\r\n")
    assert refusal(sent, f"{header} attachment\r\n\r\n<p>Hi\r\n").code == (
        "attachment_type_not_allowed"
    )


@pytest.mark.parametrize("field", ["From", "Sender"])
def test_an_author_may_have_a_comment(field: str) -> None:
    """A comment beside the address is sent as it is written, if it shows what it says."""
    other = "" if field == "From" else FROM
    header = f"{other}{field}: {SENDER} (Cron Daemon)\r\n"
    assert sent(f"{header}\r\nx\r\n").endswith(f"{header}\r\nx\r\n".encode())
    for comment in ("\u200b", "=?utf-8?q?=E3=85=A4?="):
        assert faults(sent, f"{other}{field}: {SENDER} ({comment})\r\n\r\n")[0][0] == field


@pytest.mark.parametrize("name", ["[prod] Shop", "Doe, Jane", SENDER])
def test_a_refused_author_is_told_the_cure(name: str) -> None:
    """If a name needs quotes, the refusal has the name and says so."""
    error = refusal(sent, f"From: {name} <{SENDER}>\r\n\r\n")
    assert error.code == "no_verified_sender"
    assert error.message.endswith(f'; if "{name}" is the name, put the name in quotes.')
    sent(f'From: "{name}" <{SENDER}>\r\n\r\n')


@pytest.mark.parametrize("words", HIDDEN_DIRECTIONS)
def test_hidden_directions_are_refused(words: str) -> None:
    """Another direction is found in every form in which some mail program shows it."""
    assert faults(sent, f"{FROM}Subject: a {words}\r\n\r\n")[0][0] == "Subject"
    for name in (words, f'"{words}"', f'"a" {words}'):
        assert faults(sent, f"From: {name} <{SENDER}>\r\n\r\n")[0][0] == "From"
        sender = f"{FROM}Sender: {name} <{SENDER}>\r\n\r\n"
        assert faults(sent, sender)[0][0] == "Sender"
    if "(" not in words:
        assert faults(sent, f"From: {SENDER} ({words})\r\n\r\n")[0][0] == "From"
    file = f'{FROM}Content-Type: application/pdf; name="{words}.pdf"\r\n\r\nx\r\n'
    assert faults(sent, file)[0][0] == "filename"


@pytest.mark.parametrize("name", HIDDEN_EXTENSIONS)
def test_hidden_extensions_are_refused(name: str) -> None:
    """The name of a script is found in every form in which some mail program shows it."""
    in_type = f"Content-Type: text/plain; {name}"
    placed = f"Content-Disposition: attachment; {name.replace('name', 'filename')}"
    for fields in (in_type, placed, in_type.replace("name", "filename")):
        error = refusal(sent, f"{FROM}{fields}\r\n\r\nx\r\n")
        assert error.code in {"attachment_type_not_allowed", "validation_failed"}


def test_the_largest_message_stays_within_the_limit_of_ses() -> None:
    """Only Date, Message-ID and an empty line are added, so 16 MB cannot become 40 MB."""
    message = f"{FROM}\r\n".encode() + (b"x" * 98 + b"\r\n") * 1_000
    assert len(sent(message)) - len(message) < 1_000
    # Even if it is counted in base64, as it is in the request to SES.
    assert (ServerLimits().message_size + 1_000) * 4 / 3 < RAW_LIMIT


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
    """A file that is a PDF in one program and a text in another has neither type.

    The refusal has the name that most programs read.
    """
    message = file("application/octet-stream", "x.pdf", b"%PDF-1.4")
    both = message.replace("Content-Transfer", "Content-Disposition: x; name=a.txt\r\nContent-T", 1)
    error = refused_as_file(both.replace("Content-T-", "Content-Transfer-"))
    assert (error.details or {})["filename"] == "a.txt"


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
        second(
            SIGNED.format("pgp"),
            "Content-Type: application/pgp-signature; name=x.docm\r\n"
            "Content-Disposition: attachment; filename=x.asc\r\n\r\nx",
        ),
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
