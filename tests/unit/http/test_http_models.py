"""The wire models: the rules of every field, and the codes of their errors."""

import json
from typing import Any

import pytest

from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.messages.attachment import Attachment
from pillarbox.http.messages.wire import SendEmailRequest, send_hash
from pillarbox.http.wire import validate
from tests.loops import for_each
from tests.refusals import fault, refusal

MAX_HTML = 2 * 1024 * 1024
MAX_TEXT = 1024 * 1024

SEND: dict[str, Any] = {"to": "ann@example.com", "html": "<p>x</p>", "subject": "Hello"}
FILE: dict[str, Any] = {"filename": "a.txt", "contentType": "text/plain", "content": "eHh4"}
EMOJI = "😀"
UUID_TEXT = "0197a1b2-0000-7000-8000-000000000001"
INLINE = {"inline": True, "contentId": "x"}
OPTIONAL = (
    *("variables", "subject", "fromName", "from", "cc", "bcc", "replyTo", "brandName", "logoUrl"),
    *("attachments", "html", "templateId", "starterTemplate", "text", "headers", "unsubscribe"),
)


def errors_of(body: Any, model: Any = SendEmailRequest) -> dict[str, str]:
    """Return the errors of a body, field -> code; empty if it is valid."""
    try:
        validate(model, body)
    except ValidationFailed as failed:
        return {error.field: error.code for error in failed.errors}
    return {}


def send(**changes: Any) -> dict[str, Any]:
    return SEND | changes


def attached(**changes: Any) -> dict[str, Any]:
    return send(attachments=[FILE | changes])


VALID: list[dict[str, Any]] = [
    SEND,
    send(to=["ann@example.com"] * 60),
    send(to=["not an address", "x" * 5000]),
    {"to": "x"},
    send(subject=EMOJI * 998),
    send(html="x" * MAX_HTML),
    send(html=EMOJI * (MAX_HTML // 4)),
    send(fromName="x" * 1024),
    send(fromName='x" <e@evil>,"'),
    send(fromName=""),
    send(brandName="x" * 128),
    send(logoUrl="x" * 2048),
    send(replyTo="Ann@BÜCHER.example"),
    send(starterTemplate="../x"),
    send(templateId="0197A1B2-0000-7000-8000-000000000001"),
    send(variables={}),
    {"to": "x", "templateId": UUID_TEXT, "variables": {"a": [[[[[[{}]]]]]]}},
    {"to": "x", "templateId": UUID_TEXT, "variables": {"x": "y" * (256 * 1024 - 8)}},
    {"to": "x"} | dict.fromkeys(OPTIONAL),
    attached(),
    attached(contentType=None),
    attached(contentType=None, filename="Scan.PDF"),
    attached(filename="x" * 255),
    attached(filename="Ü 😀.txt"),
    attached(content=""),
    attached(inline=True, contentId="logo@shop"),
    attached(inline=False, contentId=None),
    send(attachments=[FILE] * 12),
    send(attachments=[]),
    send(cc=[], bcc=[]),
    send(text="x" * MAX_TEXT),
    send(headers={}),
    send(unsubscribe={"url": "mailto:u@shop.example"}),
    send(unsubscribe={"url": "https://shop.example/u", "oneClick": True}),
    send(**{"from": '"Acme, Inc." <ann@example.com>'}),
    send(**{"from": "<ann@example.com>"}, fromName="Acme"),
]


@for_each("body", VALID)
def test_a_body_within_the_rules_is_valid(body: dict[str, Any]) -> None:
    """Each field may be at its limit, left out or null; counts and addresses are checked later."""
    assert errors_of(body) == {}


INVALID: list[tuple[Any, dict[str, str]]] = [
    ({}, {"to": "required"}),
    ([], {"": "wrong_type"}),
    (None, {"": "wrong_type"}),
    ("x", {"": "wrong_type"}),
    (send(to=None), {"to": "wrong_type"}),
    (send(to=5), {"to": "wrong_type"}),
    (send(to={}), {"to": "wrong_type"}),
    (send(to=[]), {"to": "too_short"}),
    (send(to=["a", 5, None]), {"to.1": "wrong_type", "to.2": "wrong_type"}),
    (send(to=[5] * 100_000), {"to": "wrong_type"}),
    (send(cc="ann@example.com"), {"cc": "wrong_type"}),
    (send(cc=[5]), {"cc.0": "wrong_type"}),
    (send(bcc=[[]]), {"bcc.0": "wrong_type"}),
    (send(starterTemplate=5), {"starterTemplate": "wrong_type"}),
    (send(html=True), {"html": "wrong_type"}),
    (send(html=""), {"html": "too_short"}),
    ({"to": "x", "html": "x"}, {"subject": "required"}),
    (send(subject=None), {"subject": "required"}),
    ({"to": 5, "html": "x"}, {"to": "wrong_type", "subject": "required"}),
    (send(subject=""), {"subject": "too_short"}),
    (send(subject=EMOJI * 999), {"subject": "too_long"}),
    (send(subject=5), {"subject": "wrong_type"}),
    (send(html="x" * (MAX_HTML + 1)), {"html": "too_large"}),
    (send(html="ü" * (MAX_HTML // 2) + "x"), {"html": "too_large"}),
    (send(fromName="x" * 1025), {"fromName": "too_long"}),
    (send(brandName="x" * 129), {"brandName": "too_long"}),
    (send(logoUrl="x" * 2049), {"logoUrl": "too_long"}),
    (send(logoUrl=5), {"logoUrl": "wrong_type"}),
    (send(**{"from": "Ann <ann@example.com>, bob@example.com"}), {"from": "invalid_address"}),
    (send(**{"from": "Ann <a@b@example.com>"}), {"from": "invalid_address"}),
    (send(**{"from": "Ann\r\nBcc: x <ann@example.com>"}), {"from": "control_character"}),
    (send(replyTo="Ann \u202e <ann@example.com>"), {"replyTo": "control_character"}),
    (send(replyTo="Ann <ann@example.com>, <b@example.com>"), {"replyTo": "invalid_address"}),
    (send(**{"from": "Ann \u202e <ann@example.com>"}), {"from": "control_character"}),
    (send(**{"from": "=?utf-8?q?a=0Ab?= <ann@example.com>"}), {"from": "control_character"}),
    (send(**{"from": "\u200b\u200b <ann@example.com>"}), {"from": "invisible"}),
    (send(**{"from": "x" * 1025 + " <ann@example.com>"}), {"from": "invalid_address"}),
    (send(**{"from": "Ann <ann@example.com>"}, fromName="Bob"), {"from": "not_allowed"}),
    (send(text=""), {"text": "too_short"}),
    (send(text="ü" * (MAX_TEXT // 2) + "x"), {"text": "too_large"}),
    (send(headers=["x"]), {"headers": "wrong_type"}),
    (send(text="x", html=None, subject=None), {"subject": "required"}),
    (send(headers={"X-A": 5}), {"headers.X-A": "wrong_type"}),
    (send(headers={"Bcc": "b@example.com"}), {"headers": "invalid_headers"}),
    (send(unsubscribe={}), {"unsubscribe.url": "required"}),
    (send(unsubscribe={"url": "http://shop.example"}), {"unsubscribe.url": "invalid_url"}),
    (send(unsubscribe={"url": "https://shop.example/>x"}), {"unsubscribe.url": "invalid_url"}),
    (send(unsubscribe={"url": "https://x.example/" + "x" * 900}), {"unsubscribe.url": "too_long"}),
    (
        send(unsubscribe={"url": "mailto:u@shop.example", "oneClick": True}),
        {"unsubscribe.oneClick": "not_allowed"},
    ),
    (
        send(
            headers={"list-unsubscribe": "<https://a.example>"},
            unsubscribe={"url": "https://b.example"},
        ),
        {"unsubscribe": "not_allowed"},
    ),
    (send(replyTo="a@example.com,b@example.com"), {"replyTo": "invalid_address"}),
    (send(replyTo="a@example.com\r\nBcc: b@example.com"), {"replyTo": "invalid_address"}),
    (send(replyTo=["a@example.com"]), {"replyTo": "wrong_type"}),
    (send(variables=["x"]), {"variables": "wrong_type"}),
    (send(variables="{}"), {"variables": "wrong_type"}),
    (send(variables={"a": [[[[[[[[]]]]]]]]}), {"variables": "too_deep"}),
    (send(variables={"x": "y" * (256 * 1024 - 7)}), {"variables": "too_large"}),
    (send(variables={str(n): n for n in range(300_000)}), {"variables": "too_large"}),
    (send(replyto="a@example.com"), {"replyto": "unknown_field"}),
    (send(reply_to="a@example.com"), {"reply_to": "unknown_field"}),
    (send(sender="a@example.com"), {"sender": "unknown_field"}),
    (send(**{"": 1}), {"": "unknown_field"}),
    (send(**{str(n): n for n in range(200)}), {"": "too_many_fields"}),
    (send(attachments={}), {"attachments": "wrong_type"}),
    (send(attachments=["x"]), {"attachments.0": "wrong_type"}),
    (
        send(attachments=[{}]),
        {
            "attachments.0.filename": "required",
            "attachments.0.content": "required",
        },
    ),
    (attached(filename=""), {"attachments.0.filename": "too_short"}),
    (attached(filename="x" * 256), {"attachments.0.filename": "too_long"}),
    (attached(filename="../x"), {"attachments.0.filename": "invalid_filename"}),
    (attached(filename="a\\b"), {"attachments.0.filename": "invalid_filename"}),
    (attached(filename="a\x00"), {"attachments.0.filename": "control_character"}),
    (attached(content="YR=="), {"attachments.0.content": "invalid_base64"}),
    (attached(content="YQ"), {"attachments.0.content": "invalid_base64"}),
    (attached(content="YWJj\n"), {"attachments.0.content": "invalid_base64"}),
    (attached(content="-_-_"), {"attachments.0.content": "invalid_base64"}),
    (attached(content="ÄÄÄÄ"), {"attachments.0.content": "invalid_base64"}),
    (attached(contentType=5), {"attachments.0.contentType": "wrong_type"}),
    (attached(contentType=None, filename="a"), {"attachments.0.contentType": "unknown_extension"}),
    (
        attached(contentType=None, filename="a.exe"),
        {"attachments.0.contentType": "unknown_extension"},
    ),
    (attached(inline="yes"), {"attachments.0.inline": "wrong_type"}),
    (attached(inline=1), {"attachments.0.inline": "wrong_type"}),
    (attached(inline=True), {"attachments.0.contentId": "required"}),
    (attached(inline=True, contentId=""), {"attachments.0.contentId": "required"}),
    (attached(contentId="x"), {"attachments.0.contentId": "not_allowed"}),
    (attached(contentId=""), {"attachments.0.contentId": "not_allowed"}),
    (attached(inline=True, contentId="<x>"), {"attachments.0.contentId": "invalid_content_id"}),
    (attached(inline=True, contentId="a b"), {"attachments.0.contentId": "invalid_content_id"}),
    (attached(inline=True, contentId="a\r\n"), {"attachments.0.contentId": "invalid_content_id"}),
    (attached(inline=True, contentId="ü"), {"attachments.0.contentId": "invalid_content_id"}),
    (attached(inline=True, contentId="x" * 256), {"attachments.0.contentId": "too_long"}),
    (attached(fileName="x"), {"attachments.0.fileName": "unknown_field"}),
    (
        send(attachments=[FILE | INLINE] * 2),
        {"attachments": "duplicate"},
    ),
]
INVALID += [
    (send(**{field: 5}), {field: "wrong_type"})
    for field in ("bcc", "templateId", "fromName", "from", "brandName")
]
INVALID += [
    (attached(**INLINE | {field: 5}), {f"attachments.0.{field}": "wrong_type"})
    for field in ("filename", "content", "contentId")
]
INVALID += [
    (send(templateId=text), {"templateId": "invalid_uuid"})
    for text in (
        "",
        "x",
        "0197a1b2000070008000000000000001",
        "{0197a1b2-0000-7000-8000-00000000000}",
        "urn:uuid:0197a1b2-0000-7000-8000-000",
        "0197a1b2-0000-7000-8000-00000000000g",
        "0197a1b20-000-7000-8000-000000000001",
        "0197a1b2-0000-7000-8000-0000000000\uff10\uff11",
    )
]
INVALID += [
    (send(**{field: f"a{character}b"}), {field: "control_character"})
    for field in ("subject", "fromName", "brandName")
    for character in ("\r\n", "\n", "\x00", "\x85", "\u2028", "\u2029", "\u202e", "\u2066", "\x7f")
]


@pytest.mark.parametrize(("body", "expected"), INVALID, ids=range(len(INVALID)))
def test_each_error_has_its_field_and_code(body: Any, expected: dict[str, str]) -> None:
    assert errors_of(body) == expected


def test_a_text_that_is_too_long_is_told_its_limit() -> None:
    assert "998" in fault(validate, SendEmailRequest, send(subject="x" * 999)).message


def test_no_value_of_the_request_is_repeated() -> None:
    """A 422 has fields and rules but never a value, and does not grow with the request."""
    secret = "canary-7f3a"
    body: dict[str, Any] = {
        "to": 5,
        "subject": f"{secret}\n",
        "from": secret,
        "fromName": [secret],
        "variables": secret,
    }
    body |= {"attachments": [{"filename": f"{secret}/", "content": secret, "inline": secret}]}
    assert secret not in json.dumps(refusal(validate, SendEmailRequest, body).envelope())
    long_name = refusal(validate, SendEmailRequest, send(**{"x" * 100_000: 1}))
    assert len(json.dumps(long_name.envelope())) < 1000


def test_a_request_becomes_a_domain_object() -> None:
    """Every field is passed on; header addresses are normalised, recipients are unchanged."""
    body = {"subject": "Hello"} | dict[str, Any](
        to=["Ann@EXAMPLE.com"],
        cc=["c"],
        bcc=["d", "d"],
        fromName="Shop",
        text="Hi",
        headers={"X-A": "1"},
        unsubscribe={"url": "https://shop.example/u"},
        **{"from": "Hello@SHOP.example"},
        replyTo="r@bücher.example",
        variables={"a": 1.5},
        brandName="Brand",
        logoUrl="https://x",
        templateId="0197A1B2-0000-7000-8000-000000000001",
        starterTemplate="otp",
        attachments=[FILE | INLINE],
    )
    request = validate(SendEmailRequest, body).to_domain(body)
    assert request.recipients == ("Ann@EXAMPLE.com", "c", "d", "d")
    assert (request.sender, request.reply_to) == (
        "Hello@shop.example",
        ("r@xn--bcher-kva.example",),
    )
    assert (request.html, request.subject, request.from_name) == (None, "Hello", "Shop")
    assert (request.brand_name, request.logo_url) == ("Brand", "https://x")
    assert request.text == "Hi"
    assert request.headers == {"X-A": "1", "List-Unsubscribe": "<https://shop.example/u>"}
    assert request.variables == {"a": 1.5}
    assert str(request.template_id) == "0197a1b2-0000-7000-8000-000000000001"
    assert request.starter_template == "otp"
    assert request.body_hash == send_hash(body)
    assert request.attachments == (Attachment("a.txt", "text/plain", "eHh4", True, "x"),)


@pytest.mark.parametrize("name", ["to", "cc", "bcc"])
def test_a_very_long_list_of_recipients_is_cut(name: str) -> None:
    """Of 330,000 recipients the first 100 are validated; the request keeps the number of all."""
    body = send(**{name: ["ann@example.com"] * 330_000})
    model = validate(SendEmailRequest, body)
    assert len(getattr(model, name)) == 100
    request = model.to_domain(body)
    assert len(request.recipients) <= 101
    assert request.recipient_count == 330_000 + (name != "to")
    error = refusal(request.check_size)
    assert error.code == "recipient_limit_exceeded"
    assert error.details == {"count": request.recipient_count, "limit": 50}


def test_nothing_beyond_the_cut_is_looked_at() -> None:
    """A wrong type among the first 100 recipients is a 422; one behind them costs no look."""
    recipients: list[object] = ["ann@example.com"] * 101
    assert errors_of(send(to=[*recipients[:99], 5, "x", "y"])) == {"to": "wrong_type"}
    assert errors_of(send(to=[*recipients, 5])) == {}


def test_a_list_up_to_the_cut_is_whole() -> None:
    """100 recipients are all in the request, which has its hash."""
    body = send(to=["ann@example.com"] * 100)
    request = validate(SendEmailRequest, body).to_domain(body)
    assert (len(request.to), request.more_recipients, len(request.body_hash)) == (100, 0, 64)
