"""Idempotency-Key: contract section 4.11 and the rows of section 3 about it."""

import json
from datetime import timedelta

import pytest

from pillarbox import wiring
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.timing import milliseconds
from tests.contract.bodies import TO, otp, raw_html
from tests.contract.client import Api
from tests.contract.service import Service


def test_a_retry_gets_the_first_response_again(service: Service, api: Api, account: str) -> None:
    """4.11: the same key and body get the first response with Idempotent-Replay: one send."""
    first = api.send(otp(), idempotency_key="order-1")
    again = api.send(otp(), idempotency_key="order-1")
    assert "idempotent-replay" not in first.headers
    assert (again.status, again.text) == (first.status, first.text)
    assert again.headers["idempotent-replay"] == "true"
    assert len(service.messages(account)) == 1


def test_without_the_header_every_request_is_a_send(
    service: Service, api: Api, account: str
) -> None:
    """4.1, 4.11: without the optional header nothing is deduplicated."""
    ids = {api.send(otp()).json["messageId"] for _ in range(2)}
    assert len(ids) == len(service.messages(account)) == 2


def test_another_body_with_the_same_key_is_a_mismatch(api: Api) -> None:
    """4.11: the same key with a different body is 409 idempotency_key_mismatch."""
    api.send(otp(), idempotency_key="order-1")
    response = api.send(raw_html(), idempotency_key="order-1")
    assert (response.status, response.code) == (409, "idempotency_key_mismatch")
    assert response.error["type"] == "idempotency_error"
    assert "retry-after" not in response.headers


def test_equal_json_is_the_same_body(api: Api) -> None:
    """Notes: the order of names, white space and escapes do not change a body."""
    body = otp(fromName="Zoë")
    first = api.send(body, idempotency_key="order-1")
    turned = json.dumps(dict(reversed(body.items())), indent=2, ensure_ascii=False)
    again = api.raw("POST", "/emails", turned.encode(), {"Idempotency-Key": "order-1"})
    assert again.text == first.text


def test_a_null_field_is_an_absent_field(service: Service, api: Api, account: str) -> None:
    """Notes: `cc: null` and no `cc` are one body."""
    first = api.send(otp(cc=None, attachments=None), idempotency_key="order-1")
    again = api.send(otp(), idempotency_key="order-1")
    assert (first.status, again.text) == (200, first.text)
    assert len(service.messages(account)) == 1


def test_every_digit_counts(service: Service, api: Api, account: str) -> None:
    """Notes: numbers that one double stands for are two bodies."""
    text = json.dumps(otp(variables={"otp_code": "482913", "n": "NUMBER"}))
    answers = [
        api.raw(
            "POST",
            "/emails",
            text.replace('"NUMBER"', number).encode(),
            {"Idempotency-Key": "order-1"},
        )
        for number in ("0.1", "0.10", "0.10000000000000000001")
    ]
    assert answers[0].status == 200
    assert answers[1].text == answers[0].text
    assert (answers[2].status, answers[2].code) == (409, "idempotency_key_mismatch")
    assert len(service.messages(account)) == 1


def test_a_running_request_holds_its_key(service: Service, api: Api, account: str) -> None:
    """3, 4.11: while the first request runs, a retry is 409 idempotency_in_flight."""
    api.send(otp(), idempotency_key="order-1")
    soon = milliseconds(wiring.utc_now()) + 30_000
    service.change_claim(account, state="P", lease=soon)
    response = api.send(otp(), idempotency_key="order-1")
    assert (response.status, response.code) == (409, "idempotency_in_flight")
    assert (response.error["type"], response.headers["retry-after"]) == ("idempotency_error", "5")
    other = api.send(raw_html(), idempotency_key="order-1")
    assert other.code == "idempotency_key_mismatch"


def test_a_request_whose_function_died_can_be_retried(
    service: Service, api: Api, account: str
) -> None:
    """3, protocol: after the lease of a dead owner, the retry continues with the same id."""
    first = api.send(otp(), idempotency_key="order-1")
    (message,) = service.messages(account)
    wiring.services().table.delete({"pk": {"S": message["pk"]}, "sk": {"S": message["sk"]}})
    service.change_claim(account, state="P", lease=1)
    again = api.send(otp(), idempotency_key="order-1")
    assert again.json == first.json
    assert "idempotent-replay" not in again.headers


@pytest.mark.parametrize(
    ("refused", "code"),
    [
        (otp(cc=["ada@gone.invalid"]), "invalid_recipient"),
        (otp(starterTemplate="nope"), "template_not_found"),
        (otp(variables={}), "validation_failed"),
        (otp(**{"from": "x@sender.example"}), "no_verified_sender"),
        (otp(to=5), "validation_failed"),
    ],
)
def test_a_failed_request_releases_its_key(
    service: Service, api: Api, account: str, refused: dict[str, object], code: str
) -> None:
    """3: errors are not stored; the retry is a new attempt, with any body."""
    assert api.send(refused, idempotency_key="order-1").code == code
    assert service.claim_items(account) == []
    response = api.send(otp(), idempotency_key="order-1")
    assert response.status == 200
    assert "idempotent-replay" not in response.headers


def test_a_429_releases_its_key(service: Service) -> None:
    """3: a 429 is not stored either."""
    account = service.account(limits=Limits(per_minute=0, per_day=9, per_month=9))
    assert Api(service.key(account)).send(otp(), idempotency_key="k").code == "rate_limit_exceeded"
    assert service.claim_items(account) == []


def test_a_success_is_stored_for_24_hours_from_the_first_request(
    service: Service, api: Api, account: str
) -> None:
    """3, 8.2: a replay is possible for 24 hours after the first request."""
    api.send(otp(), idempotency_key="order-1")
    (claim,) = service.claim_items(account)
    hours = (int(claim["expires_at"]["N"]) - wiring.utc_now().timestamp()) / 3600
    assert 23.9 < hours <= 24.001


def test_after_24_hours_the_key_is_new(service: Service, api: Api) -> None:
    """3, 8.2: an expired claim has no effect, even if the table has not deleted it yet."""
    first = api.send(otp(), idempotency_key="order-1")
    with service.at(wiring.utc_now() + timedelta(hours=24, seconds=1)):
        again = api.send(raw_html(), idempotency_key="order-1")
    assert again.status == 200
    assert again.json["messageId"] != first.json["messageId"]


@pytest.mark.parametrize("key", ["k", "x" * 255, "x" * 256, "!~#:/a-Z_0"])
def test_a_key_has_up_to_256_visible_characters(api: Api, key: str) -> None:
    """4.11, 8.2, notes: a key has 1 to 256 bytes of visible ASCII."""
    assert api.send(otp(), idempotency_key=key).status == 200


@pytest.mark.parametrize("key", ["", "x" * 257, "a b", "a\tb", "ö", "\x7f"])
def test_any_other_key_is_refused(api: Api, key: str) -> None:
    """4.11, notes: any other key is 422, which names the header."""
    response = api.send(otp(), idempotency_key=key)
    assert (response.status, response.errors) == (422, {"Idempotency-Key": "invalid_header"})


def test_two_keys_in_one_request_are_refused(api: Api) -> None:
    """4.11: a request with two keys is 422."""
    headers = {"Idempotency-Key": ["a", "b"]}
    response = api.raw("POST", "/emails", json.dumps(otp()), headers)
    assert response.errors == {"Idempotency-Key": "invalid_header"}


def test_keys_belong_to_the_account_and_not_to_the_api_key(
    service: Service, api: Api, account: str
) -> None:
    """Notes: a retry with another API key of the account is a replay."""
    first = api.send(otp(), idempotency_key="order-1")
    again = Api(service.key(account)).send(otp(), idempotency_key="order-1")
    assert (again.text, again.headers["idempotent-replay"]) == (first.text, "true")


def test_a_replay_costs_no_quota(service: Service, api: Api, account: str) -> None:
    """Notes: replays do not use quota."""
    for body in (otp(), otp(), raw_html(), otp(to="nobody")):
        api.send(body, idempotency_key="order-1")
    assert service.quota_used(account) == 1


def test_a_replay_does_not_need_quota(service: Service) -> None:
    """3, order of checks: a replay comes before the check of the quota."""
    api = service.live(limits=Limits(per_minute=1, per_day=1, per_month=1))
    first = api.send(otp(), idempotency_key="order-1")
    assert api.send(otp(), idempotency_key="order-1").text == first.text


def test_a_replay_does_not_depend_on_later_changes(
    service: Service, api: Api, account: str
) -> None:
    """Order of checks: a replay comes before template, sender, recipients and suppressions."""
    first = api.send(otp(), idempotency_key="order-1")
    service.suppress(account, TO)
    assert api.send(otp(), idempotency_key="order-1").text == first.text


def test_other_endpoints_ignore_the_header(api: Api) -> None:
    """4.11: the header is only for sends; other endpoints ignore it."""
    headers = {"Idempotency-Key": "order-1"}
    for _ in range(2):
        response = api.raw("GET", "/starter-templates", headers=headers)
        assert response.status == 200
        assert "idempotent-replay" not in response.headers
