"""Bad input and attacks over HTTP, 1 to 31: keys, ids and JSON; one test for each number.

Three kinds are tested elsewhere: attacks on other routes (batch, lists, saved templates), attacks
that the gateway or the firewall refuses, and parallel requests, which run against the local stack.
"""

import gzip
import json
from typing import Any
from uuid import uuid4

import pytest

from pillarbox.domain.accounts.key import KeyType, Preset, new_key_text
from pillarbox.domain.ids import new_token
from tests.contract.bodies import TO, attachment, otp, raw_html
from tests.contract.client import Api, ApiResponse
from tests.contract.service import Service


def send_text(api: Api, body: str | bytes, **headers: str) -> ApiResponse:
    return api.raw("POST", "/emails", body, headers)


def refused_as_json(response: ApiResponse) -> bool:
    return response.status == 422 and response.errors == {"": "invalid_json"}


def with_to(raw: str) -> str:
    """Return a send whose `to` is the given JSON text."""
    return f'{{"to": {raw}, "starterTemplate": "otp", "variables": {{"otp_code": "1"}}}}'


def with_variable(raw: str) -> str:
    """Return a send in which the given JSON text is the value of a variable."""
    return f'{{"to": "{TO}", "starterTemplate": "welcome", "variables": {{"name": {raw}}}}}'


def test_01_no_key_or_key_in_query(live: Api) -> None:
    """1: no key, or a key in the query, is 401 missing_api_key."""
    assert Api().send(otp()).code == "missing_api_key"
    query = {"X-API-Key": live.key or "", "api_key": live.key or ""}
    response = Api().raw("GET", "/starter-templates", query=query)
    assert (response.status, response.code) == (401, "missing_api_key")


def test_02_key_only_in_authorization(live: Api) -> None:
    """2: a key only in Authorization is 401 missing_api_key, with any scheme."""
    for value in (f"Bearer {live.key}", f"ApiKey {live.key}", live.key or ""):
        response = Api().raw("POST", "/emails", json.dumps(otp()), {"Authorization": value})
        assert (response.status, response.code) == (401, "missing_api_key")


def test_03_all_invalid_keys_get_the_same_response(service: Service) -> None:
    """3: unknown, revoked, truncated, 8 KB and non-ASCII keys get identical responses."""
    account = service.account()
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


def test_04_duplicate_key_headers(service: Service) -> None:
    """4: two X-API-Key headers are 401 invalid_api_key, even if both are valid."""
    key = service.key(service.account())
    for headers in ({"X-API-Key": [key, key]}, {"X-API-Key": key, "x-api-key": "other"}):
        response = Api().raw("POST", "/emails", json.dumps(otp()), headers)
        assert (response.status, response.code) == (401, "invalid_api_key")


def test_05_a_revoked_key_is_refused_every_time(service: Service, live: Api) -> None:
    """5: after a revocation every following send is 401."""
    assert live.send(otp()).status == 200
    service.revoke(live.key or "")
    assert {live.send(otp()).code for _ in range(10)} == {"invalid_api_key"}


def test_06_an_analytics_key_cannot_send(service: Service) -> None:
    """6: the read-only preset gets 403 scope_required with details.required_permission."""
    response = Api(service.key(service.account(), Preset.ANALYTICS)).send(otp())
    assert (response.status, response.code) == (403, "scope_required")
    assert response.error["details"] == {"required_permission": "emails:send"}


@pytest.mark.parametrize("body", [raw_html(), {"to": TO, "templateId": str(uuid4())}])
def test_07_preview_keys_send_no_html_or_saved_template(preview: Api, body: dict[str, Any]) -> None:
    """7: html and templateId with a preview key are 403 upgrade_required with the URL."""
    response = preview.send(body)
    assert (response.status, response.code) == (403, "upgrade_required")
    assert response.error["upgrade_url"].startswith("https://")


def test_10_a_foreign_message(service: Service, live: Api) -> None:
    """10: another account's messageId is 404 message_not_found, like an unknown one."""
    foreign = service.live().send(otp()).json["messageId"]
    assert live.get(foreign).code == "message_not_found"
    assert live.get(foreign).text == live.get(str(uuid4())).text


def test_11_a_foreign_template(service: Service, live: Api) -> None:
    """11: another account's templateId is 404 template_not_found, like an unknown one."""
    foreign = service.template(service.account(), "<p>x</p>")
    responses = [live.send({"to": TO, "templateId": each}) for each in (foreign, str(uuid4()))]
    assert responses[0].code == "template_not_found"
    assert responses[0].text == responses[1].text


def test_12_the_same_idempotency_key_of_another_account(service: Service) -> None:
    """12: the same Idempotency-Key of two accounts counts as two keys."""
    ids = {service.live().send(otp(), idempotency_key="k").json["messageId"] for _ in range(2)}
    assert len(ids) == 2


@pytest.mark.parametrize(
    "text", ["x", "1", "0" * 32, "{" + "0" * 34 + "}", "\u0660" * 8 + "-0000-0000-0000-" + "0" * 12]
)
def test_13_an_id_that_is_not_a_uuid(live: Api, text: str) -> None:
    """13: an id that is not a UUID is 422, in the path and in templateId."""
    assert live.get(text).errors == {"message_id": "invalid_uuid"}
    assert live.send({"to": TO, "templateId": text}).errors == {"templateId": "invalid_uuid"}


@pytest.mark.parametrize("body", ["", " ", "{", '{"to":', "{} {}", "{}x", '{"to": "a",}', "'{}'"])
def test_14_empty_truncated_and_trailing_json(live: Api, body: str) -> None:
    """14: an empty or truncated body, and text after the JSON, is 422."""
    assert refused_as_json(send_text(live, body))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_15_values_that_are_not_json_numbers(live: Api, number: str) -> None:
    """15: NaN, Infinity and 1e999 are 422."""
    assert refused_as_json(send_text(live, with_variable(number)))


def test_16_an_integer_of_5000_digits(live: Api) -> None:
    """16: an integer of 5,000 digits is 422."""
    assert refused_as_json(send_text(live, with_variable("9" * 5_000)))


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_17_depth(live: Api, opening: str) -> None:
    """17: 100,000 and 33 levels are 422; 8 levels of variables are accepted."""
    assert refused_as_json(send_text(live, opening * 100_000))
    assert refused_as_json(send_text(live, with_variable("[" * 31 + "]" * 31)))
    nested = "[" * 7 + "]" * 7
    body = with_variable(nested).replace('"name"', '"unused"')
    assert send_text(live, body).status == 200
    deeper = with_variable(f"[{nested}]")
    assert send_text(live, deeper).errors == {"variables": "too_deep"}


def test_18_duplicate_keys(live: Api) -> None:
    """18: a name that occurs twice in an object is 422, at any level."""
    twice = with_to(f'"{TO}", "to": "other@customer.example"')
    assert refused_as_json(send_text(live, twice))
    assert refused_as_json(send_text(live, with_variable('{"a": 1, "\\u0061": 2}')))


@pytest.mark.parametrize("text", ['"\\ud800"', '"\\udc00x"', '{"\\ud800": 1}'])
def test_19_a_lone_surrogate(live: Api, text: str) -> None:
    """19: a lone surrogate is 422, in values and in names."""
    assert refused_as_json(send_text(live, with_variable(text)))


def test_20_nul_and_control_characters(live: Api) -> None:
    """20: control characters are 422 in fields that become headers, and 400 in an address."""
    for character in "\x00\x01\x08\x1b\x7f":
        for field in ("subject", "fromName", "brandName"):
            response = live.send(otp(**{field: f"a{character}b"}))
            assert response.errors == {field: "control_character"}
        assert live.send(otp(to=f"a{character}@b.example")).code == "invalid_recipient"
        reply_to = live.send(otp(replyTo=f"a{character}@b.example"))
        assert reply_to.errors == {"replyTo": "invalid_address"}


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(otp()).encode("utf-16"),
        json.dumps(otp()).encode("utf-16-le"),
        json.dumps(otp()).encode("utf-8-sig"),
        json.dumps(otp()).replace("ada", "ad\x80").encode("latin-1"),
        b"\xff\xfe",
        b'{"to": "\xed\xa0\x80"}',
    ],
)
def test_21_other_encodings(live: Api, body: bytes) -> None:
    """21: UTF-16, a byte order mark and invalid UTF-8 are 422."""
    assert refused_as_json(send_text(live, body))


def test_22_an_unknown_field(live: Api) -> None:
    """22: an unknown field is 422; `replyto` is never silently dropped."""
    response = live.send(otp(replyto="help@sender.example"))
    assert (response.status, response.errors) == (422, {"replyto": "unknown_field"})


def test_23_a_boolean_that_is_a_string(live: Api) -> None:
    """23: inline "yes" is 422: types are strict."""
    response = live.send(otp(attachments=[attachment(inline="yes", contentId="a")]))
    assert response.errors == {"attachments.0.inline": "wrong_type"}


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "identity, gzip"])
def test_25_a_compressed_body(live: Api, coding: str) -> None:
    """25: a Content-Encoding is 422, and nothing is decompressed."""
    bomb = gzip.compress(b" " * 10_000_000)
    response = send_text(live, bomb, **{"Content-Encoding": coding})
    assert response.errors == {"Content-Encoding": "invalid_header"}


def test_27_very_large_variables(live: Api) -> None:
    """27: 300,000 variables are 422; 256 KB of compact JSON are accepted, one byte more is not."""
    many = live.send(otp(variables={f"v{n}": n for n in range(300_000)}))
    assert many.errors == {"variables": "too_large"}
    limit = 256 * 1024
    frame = len('{"otp_code":"1","x":""}')
    body = otp(variables={"otp_code": "1", "x": "x" * (limit - frame)})
    assert live.send(body).status == 200
    body["variables"]["x"] += "x"
    assert live.send(body).errors == {"variables": "too_large"}


def test_28_no_mode(live: Api) -> None:
    """28: no mode is 400 missing_field."""
    for body in ({"to": TO}, otp(starterTemplate=None)):
        response = live.send(body)
        assert (response.status, response.code) == (400, "missing_field")


def test_29_two_modes(live: Api) -> None:
    """29: two modes are 400 multiple_modes, and the details name them."""
    response = live.send(raw_html(starterTemplate="otp"))
    assert (response.status, response.code) == (400, "multiple_modes")
    assert response.error["details"] == {"given": ["starterTemplate", "html"]}


@pytest.mark.parametrize("subject", [..., None, ""])
def test_30_html_without_subject(live: Api, subject: object) -> None:
    """30: html without a subject is 422 on subject."""
    assert list(live.send(raw_html(subject=subject)).errors) == ["subject"]


@pytest.mark.parametrize("slug", ["../x", "../otp", "__class__", "otp/../otp", "otp\x00", ""])
def test_31_slugs_that_are_paths_or_attributes(live: Api, slug: str) -> None:
    """31: `../x` and `__class__` are 404 template_not_found."""
    response = live.send(otp(starterTemplate=slug))
    assert (response.status, response.code) == (404, "template_not_found")
