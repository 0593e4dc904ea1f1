"""Replies: their form, their enhanced status codes, and their row in docs/relay.md."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openapi.errors import ERRORS
from openapi.operations import OPERATIONS
from openapi.responses import error_codes
from pillarbox.domain.errors import CODES, FieldError, Json, ServiceError, ValidationFailed
from relay import replies
from relay.replies import Reply
from tests.loops import for_each

DOCUMENT = Path(__file__).parents[2] / "docs" / "relay.md"
CONSTANTS = [value for value in vars(replies).values() if isinstance(value, Reply)]
REFUSALS = [
    *(replies.refusal(ServiceError(code, "no")) for code in CODES if code != "validation_failed"),
    *(
        replies.refusal(
            ServiceError("invalid_recipient", "no", details={"recipients": [{"code": reason}]})
        )
        for reason in ("no_mx", "null_mx", "syntax")
    ),
    *(
        replies.refusal(ValidationFailed(FieldError("", "no", code)))
        for code in ("mail_loop", "bad_mime")
    ),
]
BAD = ValidationFailed(FieldError("", "no", "bad_mime"))
OF_CODES = {
    "invalid_api_key": b"421 4.7.0 ",
    "scope_required": b"421 4.7.0 ",
    "no_verified_sender": b"550 5.7.1 ",
    "recipient_suppressed": b"550 5.7.1 ",
    "attachment_type_not_allowed": b"554 5.7.1 ",
    "attachment_too_large": b"552 5.3.4 ",
    "too_many_attachments": b"554 5.7.1 ",
    "rate_limit_exceeded": b"451 4.7.1 ",
    "daily_limit_exceeded": b"452 4.7.1 ",
    "monthly_limit_exceeded": b"452 4.7.1 ",
    "idempotency_in_flight": b"451 4.5.0 ",
    "idempotency_key_mismatch": b"554 5.5.0 ",
    "service_unavailable": b"451 4.3.0 ",
    "internal_error": b"451 4.3.0 ",
}


@for_each(("code", "reply"), OF_CODES.items())
def test_each_refusal_has_its_reply(code: str, reply: bytes) -> None:
    assert replies.refusal(ServiceError(code, "no")).wire.startswith(reply)


@for_each("reply", [*CONSTANTS, *REFUSALS])
def test_every_reply_has_its_status(reply: Reply) -> None:
    """A reply has an enhanced status code of its class; a 3xx has none (RFC 2034, 4)."""
    if reply.code == 354:
        assert reply.status == ""
    else:
        assert re.fullmatch(rf"{reply.code // 100}\.\d+\.\d+", reply.status)
    assert reply.wire.startswith(f"{reply.code} {reply.status}".rstrip().encode() + b" ")
    assert reply.wire.endswith(b"\r\n")
    assert len(reply.wire) <= 512


@given(address=st.text(max_size=1_000), reason=st.text(max_size=1_000))
def test_no_text_breaks_out_of_a_reply(address: str, reason: str) -> None:
    """Each line of a reply is visible ASCII of at most 512 octets, with its code and status."""
    refused: Json = [{"address": address, "reason": reason, "code": "no_mx"}] * 12
    error = ServiceError("invalid_recipient", reason, details={"recipients": refused})
    for reply in (replies.refusal(error), replies.BAD_RECIPIENT.about(address, reason)):
        lines = reply.wire.split(b"\r\n")
        assert lines.pop() == b""
        start = f"{reply.code}.{reply.status} ".encode()
        assert all(re.fullmatch(start + rb"[ -~]*", line) for line in lines)
        assert all(len(line) <= 510 for line in lines)
        assert [line[3:4] for line in lines] == [b"-"] * (len(lines) - 1) + [b" "]


def test_client_errors_are_not_temporary_failures() -> None:
    """Each client error of a send has its own reply in openapi/errors.py, or an empty one."""
    (send,) = (operation for operation in OPERATIONS if operation.id == "send_email")
    codes = {code for code in error_codes(send) if ERRORS[code].status < 500}
    temporary = {
        code
        for code in codes
        if replies.refusal(ServiceError(code, "no") if code != "validation_failed" else BAD).status
        == "4.3.0"
    }
    # Those of headers and methods.
    of_http = {"missing_api_key", "client_blocked", "method_not_allowed"}
    assert temporary == of_http | {code for code in codes if ERRORS[code].smtp == ()}


def test_document_lists_every_refusal() -> None:
    """The table of docs/relay.md lists exactly the 4xx and 5xx replies that exist."""
    rows = re.findall(r"^\| (\d{3}) ([\d., ]+) \|", DOCUMENT.read_text(), re.MULTILINE)
    documented = {(int(code), status) for code, listed in rows for status in listed.split(", ")}
    refusals = {
        (reply.code, reply.status) for reply in [*CONSTANTS, *REFUSALS] if reply.code >= 400
    }
    assert {row for row in documented if row[0] >= 400} == refusals


def test_a_long_line_is_cut() -> None:
    """A line has at most 512 octets with its code and CR LF (RFC 5321, 4.5.3.1.5)."""
    first, second, end = Reply(250, "", ("a" * 600, "b" * 506)).wire.split(b"\r\n")
    assert (first, second, end) == (b"250-" + b"a" * 506, b"250 " + b"b" * 506, b"")


def test_a_long_address_is_cut() -> None:
    """An address in a reply has at most 256 octets (RFC 5321, 4.5.3.1.3)."""
    reply = replies.BAD_RECIPIENT.about("a" * 300, "no")
    assert reply.lines == (f"<{'a' * 256}> no",)


def test_an_address_with_other_characters_is_encoded() -> None:
    """Each character that is not ASCII has its number in the reply (RFC 6533, 3)."""
    assert replies.BAD_RECIPIENT.about("né\u20ac", "no").lines == (r"<n\x{E9}\x{20AC}> no",)


@pytest.mark.parametrize(
    ("code", "is_permanent"), [(250, False), (499, False), (500, True), (501, True), (556, True)]
)
def test_permanent_failures(code: int, *, is_permanent: bool) -> None:
    """Codes from 500 are permanent failures (RFC 5321, 4.2.1)."""
    assert Reply(code, "", ("no",)).is_permanent_failure is is_permanent
