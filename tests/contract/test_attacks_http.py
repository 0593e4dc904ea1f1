"""Bad input and attacks over HTTP, by the numbers of the list: a row or a test for each.

The unit tests of `http`, `domain` and `rendering` try the many forms of a number. Tested elsewhere
are 5 to 11 (authentication, tenants), 12 and 66 to 69 (idempotency), 24, 64 and 65 (batches), 70
(quotas), 71 and 72 (lists, saved templates), what the gateway or the firewall refuses, and parallel
requests, which run against the local stack.
"""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from email import message_from_bytes
from email.policy import SMTP
from typing import Any

import pytest

from pillarbox.domain.accounts.key import KeyType, new_key_text
from pillarbox.domain.ids import new_token
from tests.contract.bodies import TO, attachment, otp, raw_html
from tests.contract.client import Api, ApiResponse
from tests.contract.service import Service
from tests.loops import for_each

_JSON = {"": "invalid_json"}
_CONTENT_ID = {"attachments.0.contentId": "invalid_content_id"}
_TYPE = "attachment_type_not_allowed"
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def with_variable(raw: str) -> str:
    """Return a send in which the given JSON text is the value of a variable."""
    return f'{{"to": "{TO}", "starterTemplate": "welcome", "variables": {{"name": {raw}}}}}'


def link(url: str) -> dict[str, Any]:
    return otp(starterTemplate="magic_link", variables={"login_url": url})


def with_file(data: bytes = b"%PDF", /, **changes: Any) -> dict[str, Any]:
    return otp(attachments=[attachment(data, **changes)])


def inline(content_id: str) -> dict[str, Any]:
    return attachment(inline=True, contentId=content_id)


def post(api: Api, body: object, **headers: str) -> ApiResponse:
    """Send a body as it is, if it is a text or octets, else as JSON."""
    return api.raw("POST", "/emails", body, headers)


#: Number, body, and the code of the error or the code of each field.
REFUSED: list[tuple[int, object, str | dict[str, str]]] = [
    (13, {"to": TO, "templateId": "1"}, {"templateId": "invalid_uuid"}),
    (14, "", _JSON),
    (14, '{"to":', _JSON),
    (14, "{} {}", _JSON),
    (14, "\ud800", _JSON),
    (15, with_variable("NaN"), _JSON),
    (15, with_variable("-Infinity"), _JSON),
    (15, with_variable("1e999"), _JSON),
    (16, with_variable("9" * 5_000), _JSON),
    (17, "[" * 100_000, _JSON),
    (17, with_variable("[" * 31 + "]" * 31), _JSON),
    (17, with_variable("[" * 8 + "]" * 8), {"variables": "too_deep"}),
    (18, '{"to": "a@b.example", "to": "c@d.example", "html": "x", "subject": "x"}', _JSON),
    (18, with_variable('{"a": 1, "\\u0061": 2}'), _JSON),
    (19, with_variable('"\\ud800"'), _JSON),
    (19, with_variable('{"\\ud800": 1}'), _JSON),
    (20, otp(brandName="a\x00b"), {"brandName": "control_character"}),
    (20, otp(to="a\x00@b.example"), "invalid_recipient"),
    (20, otp(replyTo="a\x7f@b.example"), {"replyTo": "invalid_address"}),
    (21, json.dumps(otp()).encode("utf-16"), _JSON),
    (21, json.dumps(otp()).encode("utf-8-sig"), _JSON),
    (21, b'{"to": "\xed\xa0\x80"}', _JSON),
    (22, otp(replyto="help@sender.example"), {"replyto": "unknown_field"}),
    (23, with_file(inline="yes", contentId="a"), {"attachments.0.inline": "wrong_type"}),
    (27, otp(variables={f"v{n}": n for n in range(300_000)}), {"variables": "too_large"}),
    (28, {"to": TO}, "missing_field"),
    (28, otp(starterTemplate=None), "missing_field"),
    (29, raw_html(starterTemplate="otp"), "multiple_modes"),
    (30, raw_html(subject=...), {"subject": "required"}),
    (30, raw_html(subject=""), {"subject": "too_short"}),
    (31, otp(starterTemplate="../x"), "template_not_found"),
    (31, otp(starterTemplate="__class__"), "template_not_found"),
    (32, otp(to=[TO] * 51), "recipient_limit_exceeded"),
    (33, otp(to=[]), {"to": "too_short"}),
    (34, otp(to="a@b.example\r\nBcc: x@y.example"), "invalid_recipient"),
    (34, otp(to="a@b.example,c@d.example"), "invalid_recipient"),
    (34, otp(to="A <a@b.example>"), "invalid_recipient"),
    (35, otp(to="ü@x.example"), "invalid_recipient"),
    (37, otp(to='"a b"@x.example'), "invalid_recipient"),
    (37, otp(to="a@[192.0.2.1]"), "invalid_recipient"),
    (37, otp(to="a@localhost"), "invalid_recipient"),
    (38, otp(to="a" * 65 + "@x.example"), "invalid_recipient"),
    (39, otp(to="a@gone.invalid"), "invalid_recipient"),
    (39, otp(to="a@nomx.example"), "invalid_recipient"),
    (40, otp(to="a@nullmx.example"), "invalid_recipient"),
    (43, otp(subject="a\r\nBcc: x@y.example"), {"subject": "control_character"}),
    (43, otp(fromName="a\x85b"), {"fromName": "control_character"}),
    (43, with_file(filename="a\u2028b"), {"attachments.0.filename": "control_character"}),
    (43, otp(attachments=[inline("a\nb")]), _CONTENT_ID),
    (44, raw_html(subject="🎉" * 999), {"subject": "too_long"}),
    (46, otp(fromName="a\u202eb"), {"fromName": "control_character"}),
    (46, with_file(filename="gpj\u2066.pdf"), {"attachments.0.filename": "control_character"}),
    (46, otp(subject="\u200b"), {"subject": "invisible"}),
    (46, otp(fromName=" "), {"fromName": "invisible"}),
    (46, otp(brandName="\u3164\u200d"), {"brandName": "invisible"}),
    (47, otp(**{"from": "ceo@bank.example"}), "no_verified_sender"),
    (52, link("javascript:alert(1)"), {"variables.login_url": "invalid_url"}),
    (52, link("data:text/html,x"), {"variables.login_url": "invalid_url"}),
    (52, link("//evil.example"), {"variables.login_url": "invalid_url"}),
    (53, otp(logoUrl="http://169.254.169.254/a.png"), {"logoUrl": "invalid_url"}),
    (55, otp(attachments=[attachment()] * 11), "too_many_attachments"),
    (57, with_file(content="_-8="), {"attachments.0.content": "invalid_base64"}),
    (57, with_file(content="Y Q=="), {"attachments.0.content": "invalid_base64"}),
    (57, with_file(content="YQ"), {"attachments.0.content": "invalid_base64"}),
    (58, with_file(content="YR=="), {"attachments.0.content": "invalid_base64"}),
    (59, with_file(contentType="application/octet-stream"), _TYPE),
    (59, with_file(contentType="text/plain; format=flowed"), _TYPE),
    (60, with_file(b"MZ\x90\x00", contentType="image/png"), _TYPE),
    (60, with_file(b"\x7fELF", contentType="image/png"), _TYPE),
    (60, with_file(filename="a.pdf.JS"), _TYPE),
    (62, with_file(filename="../x"), {"attachments.0.filename": "invalid_filename"}),
    (62, with_file(filename="a\x00.pdf"), {"attachments.0.filename": "control_character"}),
    (62, with_file(filename="x" * 256), {"attachments.0.filename": "too_long"}),
    (63, otp(attachments=[inline("<logo>")]), _CONTENT_ID),
    (63, with_file(contentId="logo"), {"attachments.0.contentId": "not_allowed"}),
    (63, otp(attachments=[inline("logo")] * 2), {"attachments": "duplicate"}),
]


@pytest.fixture(scope="module")
def api(service: Service) -> Api:
    """One live key, so that no row costs an account."""
    return service.live()


@for_each("number, body, expected", REFUSED)
def test_bad_input_is_refused(
    api: Api, number: int, body: object, expected: str | dict[str, str]
) -> None:
    """13 to 63: each is the error that the list demands, on the field where it is."""
    response = post(api, body)
    refused = response.errors if isinstance(expected, dict) else response.code
    assert refused == expected, number


@for_each(
    "number, body",
    [
        (32, otp(to=[TO] * 50)),
        (38, otp(to="a" * 64 + "@x.example")),
        (41, otp(to="a@broken.example")),
        (41, otp(to="a@slow.example")),
        (44, raw_html(subject="🎉" * 998)),
        (59, with_file(contentType="Application/PDF")),
        (60, with_file(b"GIF89a", contentType="image/png")),
    ],
)
def test_unusual_input_is_accepted(api: Api, number: int, body: object) -> None:
    """17 to 60: what is within the limits, or what the DNS cannot say, is sent."""
    assert post(api, body).status == 200, number


@for_each(
    "number, headers, body",
    [
        (25, {"Content-Encoding": "gzip"}, gzip.compress(b" " * 10_000_000)),
        (25, {"Content-Encoding": "identity, br"}, otp()),
        (25, {"Content-Encoding": ["identity", "GZIP"]}, otp()),
        *(
            (48, {"Idempotency-Key": key}, otp())
            for key in ("", "k" * 257, "a b", " a", "a\t", "ü", "a\x00", "a\x7f", ["a", "a"])
        ),
        (48, {"Idempotency-Key": ["a", ""]}, otp()),
    ],
)
def test_bad_headers_are_refused(
    api: Api, number: int, headers: dict[str, Any], body: object
) -> None:
    """25, 48: a compressed body, and a key that is none, are 422 on the header."""
    assert post(api, body, **headers).errors == {next(iter(headers)): "invalid_header"}, number


def test_01_02_a_key_in_another_place(api: Api) -> None:
    """1, 2: no key, or a key in the query or in Authorization, is 401 missing_api_key."""
    key = api.key or ""
    assert Api().starters().code == "missing_api_key"
    query = {"X-API-Key": key, "api_key": key}
    assert Api().raw("GET", "/starter-templates", query=query).code == "missing_api_key"
    for value in (f"Bearer {key}", f"ApiKey {key}", key):
        assert post(Api(), otp(), Authorization=value).code == "missing_api_key"


def test_03_all_invalid_keys_get_the_same_response(account: str, service: Service) -> None:
    """3: unknown, revoked, truncated, 8 KB and non-ASCII keys get identical responses."""
    valid, revoked = service.key(account), service.key(account)
    service.revoke(revoked)
    keys = [
        new_key_text(account, KeyType.LIVE),
        new_key_text(new_token(12), KeyType.LIVE),
        revoked,
        valid[:-1],
        valid.upper(),
        valid.replace("bx_live_", "bx_preview_"),
        f" {valid}",
        f"{valid}\n",
        "x" * 8192,
        "bx_live_ключ",
        "bx_live_" + "é" * 52,
        "\x00",
    ]
    responses = {(a.status, a.text) for a in (Api(key).send(otp()) for key in keys)}
    assert len(responses) == 1
    assert responses.pop()[0] == 401


def test_04_duplicate_key_headers(api: Api) -> None:
    """4: two X-API-Key headers are 401 invalid_api_key, even if both are valid."""
    key = api.key or ""
    for headers in ({"X-API-Key": [key, key]}, {"X-API-Key": key, "x-api-key": "other"}):
        response = Api().raw("POST", "/emails", otp(), headers)
        assert (response.status, response.code) == (401, "invalid_api_key")


def test_34_all_invalid_recipients_are_listed(api: Api) -> None:
    """34, notes: details.recipients lists each invalid recipient with its reason."""
    invalid = ["a@gone.invalid", "b@nomx.example", "c@nullmx.example"]
    response = api.send(otp(to=invalid[0], cc=[TO, invalid[1]], bcc=invalid[2:]))
    assert {r["address"] for r in response.error["details"]["recipients"]} == set(invalid)
    assert len({r["reason"] for r in response.error["details"]["recipients"]}) == 3


def test_36_international_domains(api: Api) -> None:
    """36: a domain is stored as lower-case A-labels, the local part as written."""
    sent = api.send(otp(to="Ada@BÜCHER.example"))
    stored = api.get(sent.json["messageId"]).json["recipientEmail"]
    assert stored == "Ada@xn--bcher-kva.example"


def test_41_many_slow_domains_are_checked_in_time(api: Api) -> None:
    """41, notes: the check ends within 2 s, and still reports an invalid address."""
    addresses = [f"a@{n}.slow.example" for n in range(15)]
    response = api.send(otp(to=[*addresses, "a@gone.invalid"]))
    assert [r["address"] for r in response.error["details"]["recipients"]] == ["a@gone.invalid"]


def test_45_a_name_that_looks_like_an_address(service: Service, api: Api) -> None:
    """45: the fromName `x" <e@evil>,"` remains the display name of one address."""
    service.jobs()
    service.ses.mails.clear()
    api.send(otp(fromName='x" <e@evil.example>,"'))
    service.deliver()
    (mail,) = service.ses.mails
    (sender,) = message_from_bytes(mail["raw"], policy=SMTP)["From"].addresses
    assert sender.display_name == 'x" <e@evil.example>,"'
    assert sender.addr_spec == mail["FromEmailAddress"]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "{{7*7}}", "{{x.__class__}}"])
def test_49_50_code_in_a_variable(api: Api, text: str) -> None:
    """49, 50: HTML and template syntax in a value are text, in the body and in the subject."""
    shown = api.preview("otp", {"variables": {"app_name": text}}).json
    assert shown["subject"] == f"Your {text} code"
    assert text.replace("<", "&lt;").replace(">", "&gt;") in shown["html"]
    assert "<script>" not in shown["html"]


@pytest.mark.parametrize(
    ("html", "variables"),
    [
        (
            "{% for row in rows %}" + "{{ row.text }}" * 51 + "{% endfor %}",
            {"rows": [{"text": "x" * 200}] * 900},
        ),
        ("<p>{{ text }}</p>" * 6, {"text": '"' * 100_000}),
    ],
)
def test_51_54_an_email_over_a_megabyte(
    account: str, service: Service, html: str, variables: dict[str, Any]
) -> None:
    """51, 54: a loop or values that make too large an email are 422, and nothing is queued."""
    template = service.template(account, html)
    body = {"to": TO, "templateId": template, "variables": variables}
    assert Api(service.key(account)).send(body).errors == {"variables": "too_large"}
    assert service.messages(account) == []


def test_53_a_logo_is_never_fetched(service: Service, api: Api) -> None:
    """53: an internal URL is written into the email, escaped, and never requested."""
    service.jobs()
    service.ses.mails.clear()
    url = 'https://169.254.169.254/latest?a="><img>&b'
    assert api.send(otp(logoUrl=url)).status == 200
    assert service.deliver() == []
    raw = service.ses.mails[-1]["raw"].replace(b"=\r\n", b"")
    assert b"169.254.169.254" in raw
    assert b'"><img>' not in raw


def test_56_files_one_byte_too_large(api: Api) -> None:
    """56: 5 MB + 1 byte is too large for one file, and 10 MB + 1 byte for all."""
    five = 5 * 1024 * 1024
    alone = api.send(with_file(b"x" * (five + 1)))
    assert alone.error["details"]["scope"] == "per_attachment"
    together = [attachment(b"x" * five), attachment(b"x" * five), attachment(b"x")]
    assert api.send(otp(attachments=together)).error["details"]["scope"] == "total"


def test_61_a_zip_bomb_is_never_unpacked(api: Api) -> None:
    """61: a docx that would unpack to 100 MB is accepted unopened."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"\0" * 100_000_000)
    body = with_file(packed.getvalue(), contentType=_DOCX, filename="a.docx")
    assert api.send(body).status == 200


LARGE: dict[str, Callable[[], object]] = {
    "recipients": lambda: otp(to=[1] * 300_000),
    "attachments": lambda: otp(attachments=[{}] * 100_000),
    "fields": lambda: {f"f{n}": n for n in range(100_000)},
    "name": lambda: {"é" * 1_000_000: 1},
    "address": lambda: otp(to="é" * 1_000_000),
    "type": lambda: with_file(contentType="é" * 10_000),
}


@pytest.mark.parametrize("kind", LARGE)
def test_a_large_refused_request_gets_a_small_response(api: Api, kind: str) -> None:
    """Not on the list: a response has at most 6 MB, so an error does not repeat the request."""
    response = api.send(LARGE[kind]())
    assert response.status in {400, 422}
    assert len(response.text) < 20_000
