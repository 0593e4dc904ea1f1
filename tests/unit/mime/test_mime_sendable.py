"""Whatever HTTP accepts becomes a message that SES and a strict parser accept."""

import base64
from datetime import UTC, datetime
from email import message_from_bytes, policy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pillarbox.application.sending.smtp_message import read_message
from pillarbox.application.validation import normalize_address
from pillarbox.domain.errors import Json, ServiceError
from pillarbox.domain.messages.attachment import ALLOWED_TYPES
from pillarbox.domain.messages.mail import SendRequest
from pillarbox.http.messages.wire import SendEmailRequest
from pillarbox.http.validation import validate
from pillarbox.mime.build import OutgoingMail, build
from pillarbox.rendering.text import text_from_html
from tests.examples import examples
from tests.fakes.builders import SENDER
from verification.attacks.sendable import faults_in

safe = st.sampled_from(
    [
        *("a", "ü", "😀", " ", "  ", '"', "<b@c.example>", "=?utf-8?q?x?=", "=?", "--", "(", ","),
        *(".pdf", ".tar", ".", "con", "\u200d", "\ufe0f", "x" * 70, "'", "%41", ";"),
    ]
)
unsafe = st.sampled_from(["\u200b", "\u202e", "\r\n", "\t", ":", "\\", ".exe", ".", " ", "CON"])
#: Text of awkward pieces, mostly accepted, or any text.
texts = st.lists(safe, min_size=1, max_size=8).map("".join).map("a{}".format)
texts |= st.lists(safe | unsafe, max_size=8).map("".join) | st.text(max_size=120)
names = texts.map("{}.pdf".format) | texts
#: Local parts of all characters that an address may have, and others.
local_parts = st.text("ab1.!#$%&'*+/=?^_`{|}~-", min_size=1, max_size=60).map("a{}z".format)
local_parts |= st.text('ab."@ ü', max_size=70)
addresses = st.builds(
    "{}@{}".format,
    st.just("ann") | local_parts,
    st.sampled_from(["x.example", "bücher.example", "a-b.example"]),
)
files = st.fixed_dictionaries(
    {
        "filename": names,
        "contentType": st.sampled_from(sorted(ALLOWED_TYPES)),
        "content": (st.just(b"MZ") | st.binary(max_size=200)).map(
            lambda octets: base64.b64encode(octets).decode()
        ),
    }
)
bodies: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"to": addresses, "html": texts.map("<p>{}".format), "subject": texts},
    optional={
        "fromName": texts,
        "replyTo": addresses,
        "cc": st.lists(addresses, max_size=3),
        "attachments": st.lists(files, max_size=2),
    },
)


def accepted(body: Json) -> SendRequest | None:
    """Return a request, as far as it can be checked without the stores; None if it is refused."""
    try:
        request = validate(SendEmailRequest, body).to_domain(body)
        request.check_size()
        for address in request.recipients:
            normalize_address(address)
    except ServiceError:
        return None
    return request


@pytest.mark.slow
@given(bodies)
@settings(max_examples=examples(100))
def test_what_http_accepts_is_sendable(body: dict[str, Any]) -> None:
    """SES, a strict parser, and our own relay accept every message that HTTP leads to."""
    request = accepted(body)
    if request is None:
        return
    raw = build(
        OutgoingMail(
            message_id="<0199c0de-0000-7000-8000-000000000001@shop.example>",
            date=datetime(2026, 11, 20, 9, 30, tzinfo=UTC),
            sender=SENDER,
            from_name=request.from_name,
            to=tuple(map(normalize_address, request.to)),
            cc=tuple(map(normalize_address, request.cc)),
            reply_to=request.reply_to,
            subject=request.subject or "",
            html=request.html or "",
            text=text_from_html(request.html or ""),
            attachments=request.attachments,
        )
    )
    assert faults_in(raw) == []
    parsed = message_from_bytes(raw, policy=policy.strict)
    assert not any(header.defects for header in parsed.values())
    read_message(("ann@example.com",), bytearray(raw))
