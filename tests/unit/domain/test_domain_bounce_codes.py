"""Codes of bounces: what the enhanced status code of RFC 3463 says of the cause."""

import re

from hypothesis import given
from hypothesis import strategies as st

from pillarbox.domain.messages.bounce_codes import _CODES, BOUNCE_MEANINGS, bounce_code
from pillarbox.domain.messages.message import MEANINGS
from tests.loops import for_each

GOOGLE = (
    "smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please try\n"
    "550-5.1.1 double-checking the recipient's email address. 550 5.1.1 https://g.example x12"
)
MICROSOFT = "smtp; 550 5.7.509 Access denied, sending domain shop.example does not pass DMARC"


@for_each(
    ("status", "diagnostic", "code"),
    [
        ("5.1.1", "smtp; 550 5.1.1 user unknown", "mailbox_unknown"),
        ("5.0.0", GOOGLE, "mailbox_unknown"),
        ("5.1.1", "smtp; 554 5.7.1 blocked", "policy_refused"),
        ("5.7.509", MICROSOFT, "policy_refused"),
        ("5.7.26", None, "authentication_failed"),
        ("5.1.2", None, "domain_unknown"),
        ("5.1.10", None, "domain_unknown"),
        ("5.1.3", None, "address_refused"),
        ("5.2.2", None, "mailbox_full"),
        ("4.2.2", "smtp; 452 4.2.2 mailbox full", "mailbox_full"),
        ("4.4.7", None, "gave_up"),
        ("4.7.1", "451 4.7.1 try later", "deferred"),
        ("4.0.0", None, "deferred"),
        ("5.3.4", None, "message_too_large"),
        ("5.6.1", None, "content_refused"),
        ("5.5.0", None, "protocol_error"),
        ("5.4.1", None, "server_unreachable"),
        ("5.4.6", None, "routing_failed"),
        ("5.2.1", "smtp;550 #5.2.1 disabled", "mailbox_disabled"),
        ("5.0.0", "smtp; 550 no such user", None),
        (None, None, None),
        ("", "", None),
        ("2.0.0", "250 2.0.0 ok", None),
        ("5.1", None, None),
        (None, "smtp; 550 mail from 192.5.1.1 refused", None),
        (None, "smtp; 550 5.1.1.9 is on a list", None),
        (None, "smtp; Exim 4.9.6", None),
        ("5.99.1", None, None),
    ],
)
def test_the_status_code_gives_the_code(
    status: str | None, diagnostic: str | None, code: str | None
) -> None:
    """The server's reply counts before the report's field; numbers that are no code say nothing."""
    assert bounce_code(status, diagnostic) == code


def test_each_code_has_a_meaning() -> None:
    """Every code of the table is stable, short and explained; none is explained for nothing."""
    assert {*_CODES.values(), "deferred"} == set(BOUNCE_MEANINGS)
    assert all(re.fullmatch("[a-z_]{5,25}", code) for code in BOUNCE_MEANINGS)
    assert BOUNCE_MEANINGS.items() <= MEANINGS.items()


@given(st.text(max_size=80) | st.from_regex(r"[45]\.\d{1,4}\.\d{1,4}"), st.text(max_size=200))
def test_any_report_has_a_known_code_or_none(status: str, diagnostic: str) -> None:
    """A report is a text that anybody can write: it never fails, and names only known codes."""
    assert bounce_code(status, diagnostic) in {*BOUNCE_MEANINGS, None}
