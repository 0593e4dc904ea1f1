"""The checks of the SES stand-in: which raw messages SES refuses, and with which text."""

from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest

from local import template
from local.ses.addresses import addresses_in, check_address
from local.ses.checks import check_message
from local.ses.deployed import create_declared_set
from local.ses.errors import SesError
from local.ses.lists import SINGLE_FIELDS, SINGLE_RECIPIENT_FIELDS, UNSUPPORTED_TYPES
from local.ses.rate_limit import RateLimit
from local.ses.store import MailStore, StoredConfigurationSet
from local.ses.wire import as_delivered, message_id
from pillarbox.domain.messages.attachment import UNSUPPORTED_EXTENSIONS
from pillarbox.mime.parse import MESSAGE_FIELDS, PART_FIELDS
from tests.loops import for_each

FROM = b"From: post@sender.example\r\n"


def multipart(part: bytes) -> bytes:
    head = FROM + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    return head + b"--b\r\n" + part + b"\r\n\r\nx\r\n--b--\r\n"


@for_each(
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


@for_each(
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


@for_each(
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


def created(**options: Any) -> StoredConfigurationSet:
    """Return the set that the template makes with more options."""
    resources = deepcopy(template.load()["Resources"])
    resources["ConfigurationSet"]["Properties"] |= options
    mailbox = MailStore()
    create_declared_set(mailbox, resources, "set-1")
    return mailbox.configuration_sets["set-1"]


@pytest.mark.parametrize(
    ("event_type", "published"),
    [
        *((name, True) for name in ("SEND", "DELIVERY", "BOUNCE", "COMPLAINT", "REJECT")),
        *((name, True) for name in ("RENDERING_FAILURE", "DELIVERY_DELAY")),
        *((name, False) for name in ("OPEN", "CLICK", "SUBSCRIPTION")),
    ],
)
def test_the_set_publishes_what_the_template_says(event_type: str, *, published: bool) -> None:
    """A type that the template does not name never reaches the service, as in AWS."""
    assert created().publishes(event_type) is published


def test_the_set_has_the_options_of_the_template() -> None:
    off: dict[str, list[str]] = {"SuppressedReasons": []}
    assert created(SuppressionOptions=off).suppression.reasons == ()
    assert created().sending_enabled
    assert not created(SendingOptions={"SendingEnabled": False}).sending_enabled


def test_the_service_refuses_the_same_twice_as_ses() -> None:
    refused = {name.decode() for name in MESSAGE_FIELDS | PART_FIELDS} | {"from", "sender"}
    assert refused == SINGLE_FIELDS | SINGLE_RECIPIENT_FIELDS


def test_the_service_refuses_the_same_attachments_as_ses() -> None:
    assert UNSUPPORTED_EXTENSIONS == UNSUPPORTED_TYPES


def allowed(limit: RateLimit, count: int, now: float, recipients: int = 1) -> int:
    """Return how many of some emails are allowed at a time."""
    return sum(limit.allow(recipients, now) for _ in range(count))


def test_a_second_and_a_burst_are_allowed() -> None:
    limit = RateLimit(14.0)
    assert allowed(limit, 100, 0.0) == 17
    assert [allowed(limit, 100, second) for second in (1.0, 2.0, 3.0)] == [14, 14, 14]


def test_the_sandbox_allows_one_a_second() -> None:
    limit = RateLimit(1.0)
    assert [allowed(limit, 5, second) for second in (0.0, 0.5, 1.0, 1.5, 2.0)] == [2, 0, 1, 0, 1]


def test_recipients_count() -> None:
    assert allowed(RateLimit(14.0), 100, 0.0, recipients=3) == 5


def test_a_large_email_needs_a_second_and_leaves_a_debt() -> None:
    limit = RateLimit(14.0)
    assert limit.allow(50, 0.0)
    assert not limit.allow(1, 2.3)
    assert limit.allow(1, 2.4)
    assert not limit.allow(50, 3.0)


def test_a_clock_that_goes_back_gives_nothing() -> None:
    limit = RateLimit(1.0)
    assert allowed(limit, 5, 10.0) == 2
    assert allowed(limit, 5, 9.0) == 0


AT = datetime(2026, 11, 28, 9, 30, tzinfo=UTC)
OWN = b"Message-ID: <0100-1@email.amazonses.com>\r\nDate: Sat, 28 Nov 2026 09:30:00 +0000\r\n"


def test_the_host_of_the_id_names_the_region() -> None:
    assert message_id("0100-1", "us-east-1") == "<0100-1@email.amazonses.com>"
    assert message_id("0100-1", "eu-west-1") == "<0100-1@eu-west-1.amazonses.com>"


@pytest.mark.parametrize(
    ("raw", "rest"),
    [
        (b"From: a@b.c\r\n\r\nHi", b"From: a@b.c\r\n\r\nHi"),
        (b"date: x\r\nFrom: a@b.c\r\n\r\nDate: y\r\n", b"From: a@b.c\r\n\r\nDate: y\r\n"),
        (b"From: a@b.c\r\nMESSAGE-ID :\r\n <x@y>\r\n\r\n", b"From: a@b.c\r\n\r\n"),
        (
            b"Resent-Date: x\r\nOriginal-Message-ID: <x@y>\r\nReferences: <r@s>\r\n\r\n",
            b"Resent-Date: x\r\nOriginal-Message-ID: <x@y>\r\nReferences: <r@s>\r\n\r\n",
        ),
    ],
)
def test_only_these_fields_are_replaced(raw: bytes, rest: bytes) -> None:
    assert as_delivered(raw, "0100-1", "us-east-1", AT) == OWN + rest


def test_line_ends_stay_what_they_are() -> None:
    delivered = as_delivered(b"Date: x\nFrom: a@b.c\n\nHi", "0100-1", "us-east-1", AT)
    assert delivered == OWN.replace(b"\r\n", b"\n") + b"From: a@b.c\n\nHi"
