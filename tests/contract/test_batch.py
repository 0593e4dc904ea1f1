"""POST /v1/emails/batch: contract sections 2.4, 4.2, 8.2 and the notes on batches."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from pillarbox import wiring
from pillarbox.adapters.dynamodb.messages.claims import LEASE
from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.key import Preset
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.batch import MAX_MESSAGES
from tests.contract.bodies import TO, attachment, otp, raw_html
from tests.contract.client import Api, ApiResponse
from tests.contract.service import SENDER, Service


def batch(api: Api, *messages: object, idempotency_key: str | None = None) -> ApiResponse:
    headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
    return api.raw("POST", "/emails/batch", json.dumps({"messages": messages}), headers)


def codes(response: ApiResponse) -> list[str | None]:
    """Return the error code of each result; None if the message was accepted."""
    assert response.status == 200, response.text
    return [item["error"] and item["error"]["code"] for item in response.json["results"]]


def test_each_message_has_a_result(service: Service, api: Api, account: str) -> None:
    """2.4, 4.2: a result has idx, messageId, status queued, from, and a null error."""
    response = batch(api, otp(), raw_html(), otp(to=["a@b.example"]))
    results = response.json["results"]
    assert [item["idx"] for item in results] == [0, 1, 2]
    assert {item["status"] for item in results} == {"queued"}
    assert {item["from"] for item in results} == {SENDER}
    assert codes(response) == [None, None, None]
    stored = {item["sk"] for item in service.messages(account)}
    assert {item["messageId"] for item in results} == stored
    for item in results:
        assert UUID(item["messageId"]).version == 7
        assert api.get(item["messageId"]).json["status"] == "pending"


def test_every_accepted_message_is_delivered(service: Service, api: Api) -> None:
    """1: each message of a batch is sent, including large ones from the spool."""
    large = raw_html(attachments=[attachment(b"%PDF" + bytes(300_000))])
    ids = [item["messageId"] for item in batch(api, otp(), large).json["results"]]
    service.deliver()
    assert [api.get(message_id).json["status"] for message_id in ids] == ["sent", "sent"]


ITEM_FAULTS: list[tuple[str, Any]] = [
    ("missing_field", otp(starterTemplate=...)),
    ("multiple_modes", raw_html(starterTemplate="otp")),
    ("validation_failed", otp(replyto="a@b.example")),
    ("validation_failed", "no object"),
    ("validation_failed", None),
    ("validation_failed", otp(variables={})),
    ("invalid_recipient", otp(to="a@nowhere.invalid")),
    ("recipient_limit_exceeded", otp(to=[TO] * 51)),
    ("too_many_attachments", raw_html(attachments=[attachment()] * 11)),
    ("attachment_type_not_allowed", raw_html(attachments=[attachment(b"MZ")])),
    ("template_not_found", otp(starterTemplate="../x")),
    ("template_not_found", otp(starterTemplate=..., templateId=str(UUID(int=7)))),
    ("no_verified_sender", otp(**{"from": "other@sender.example"})),
]


@pytest.mark.parametrize(("code", "faulty"), ITEM_FAULTS)
def test_one_failure_does_not_affect_the_others(
    service: Service, api: Api, account: str, code: str, faulty: object
) -> None:
    """4.2: messages are independent; a failed one has nulls and an error, and costs nothing."""
    response = batch(api, otp(), faulty, otp())
    assert codes(response) == [None, code, None]
    failed = response.json["results"][1]
    assert (failed["messageId"], failed["status"], failed["from"]) == (None, None, None)
    assert {"code", "message", "type"} <= set(failed["error"])
    assert len(service.messages(account)) == service.quota_used(account) == 2


def test_errors_name_the_position_in_the_batch(api: Api) -> None:
    """Notes: the fields in details.errors[] are dotted paths with list positions."""
    response = batch(api, otp(), raw_html(subject=...))
    (error,) = response.json["results"][1]["error"]["details"]["errors"]
    assert (error["field"], error["code"]) == ("messages.1.subject", "required")
    response = batch(api, otp(cc=[1]))
    (error,) = response.json["results"][0]["error"]["details"]["errors"]
    assert error["field"] == "messages.0.cc.0"


def test_a_batch_in_which_every_item_fails_is_200(api: Api) -> None:
    """Notes: the status of a batch is 200 even if every item failed."""
    assert codes(batch(api, otp(to="x"), otp(to="y"))) == ["invalid_recipient"] * 2


def test_a_suppressed_recipient_fails_only_its_message(
    service: Service, api: Api, account: str
) -> None:
    """3, 4.2: only the message to an address that bounced before is refused."""
    service.suppress(account, "gone@b.example")
    response = batch(api, otp(to="Gone@b.example"), otp())
    assert codes(response) == ["recipient_suppressed", None]


def test_saved_templates_are_read_for_all_items(service: Service, api: Api, account: str) -> None:
    """1, 4.2: items may use different saved templates; those of other accounts do not exist."""
    first = service.template(account, "<p>{{ a }}</p>", "One")
    second = service.template(account, "<p>two</p>", "Two")
    foreign = service.template(service.account(), "<p>three</p>")
    saved = [
        otp(starterTemplate=..., variables={"a": "x"}, templateId=t)
        for t in (first, second, foreign)
    ]
    response = batch(api, *saved)
    assert codes(response) == [None, None, "template_not_found"]
    subjects = [api.get(i["messageId"]).json["subject"] for i in response.json["results"][:2]]
    assert subjects == ["One", "Two"]


@pytest.mark.parametrize(
    "body",
    [
        "{}",
        '{"messages": []}',
        '{"messages": {}}',
        "[]",
        "1",
        "{",
        '{"messages": [{}], "extra": 1}',
    ],
)
def test_a_malformed_batch_is_refused_as_a_whole(api: Api, body: str) -> None:
    """4.2, 7: without a non-empty array of messages the request is 422."""
    response = api.raw("POST", "/emails/batch", body)
    assert (response.status, response.code) == (422, "validation_failed")


@pytest.mark.parametrize("count", [101, 1_000_000])
def test_more_than_100_messages_are_refused_as_a_whole(api: Api, count: int) -> None:
    """4.2: 101 messages, or a million, are 400 batch_limit_exceeded."""
    response = api.raw("POST", "/emails/batch", '{"messages": [' + "0," * (count - 1) + "0]}")
    assert (response.status, response.code) == (400, "batch_limit_exceeded")
    assert response.error["details"] == {"scope": "messages", "count": count, "limit": 100}


def test_a_thousand_recipients_are_accepted_and_one_more_is_not(api: Api) -> None:
    """4.2, 8.2: all messages together have at most 1,000 recipients."""
    full = [otp(to=[f"a{n}@b.example" for n in range(50)])] * 20
    assert codes(batch(api, *full)) == [None] * 20
    response = batch(api, *full, otp())
    assert (response.status, response.code) == (400, "batch_limit_exceeded")
    assert response.error["details"] == {"scope": "recipients", "count": 1_001, "limit": 1_000}


def test_preview_keys_cannot_send_batches(preview: Api) -> None:
    """4.2: a preview key gets 403 upgrade_required with upgrade_url, before counts are checked."""
    for messages in ([otp()], [otp()] * 101):
        response = batch(preview, *messages)
        assert (response.status, response.code) == (403, "upgrade_required")
        assert response.error["upgrade_url"]


def test_a_key_without_the_permission_cannot_send_batches(service: Service, account: str) -> None:
    """4.2, 5: a missing emails:send is reported even if the body is invalid."""
    api = Api(service.key(account, Preset.ANALYTICS))
    response = api.raw("POST", "/emails/batch", "{")
    assert (response.status, response.code) == (403, "scope_required")


def test_a_batch_is_replayed_with_its_item_errors(service: Service, api: Api, account: str) -> None:
    """4.11, notes: a replay repeats the stored response; failed items need a new key."""
    messages = [otp(), otp(to="x")] * 20
    first = batch(api, *messages, idempotency_key="batch-1")
    again = batch(api, *messages, idempotency_key="batch-1")
    assert again.text == first.text
    assert again.headers["idempotent-replay"] == "true"
    assert len(service.messages(account)) == service.quota_used(account) == 20
    other = batch(api, *messages[:2], idempotency_key="batch-1")
    assert (other.status, other.code) == (409, "idempotency_key_mismatch")


def test_a_batch_and_a_send_do_not_share_a_key(api: Api) -> None:
    """Notes: the scope of an Idempotency-Key is account and route."""
    assert api.send(otp(), idempotency_key="same").status == 200
    assert codes(batch(api, otp(), idempotency_key="same")) == [None]


def test_the_quota_is_used_in_order(service: Service) -> None:
    """Notes: messages are accepted until the quota is reached; the rest have its code."""
    limits = Limits(per_minute=100, per_day=2, per_month=None)
    account = service.account(limits=limits)
    api = Api(service.key(account))
    response = batch(api, otp(), otp(to="x"), otp(), otp(), otp())
    over = "daily_limit_exceeded"
    assert codes(response) == [None, "invalid_recipient", None, over, over]
    assert len(service.messages(account)) == service.quota_used(account) == 2


def test_a_batch_without_any_quota_left_is_429(service: Service) -> None:
    """Notes: if no message fits the quota, the request is 429 and its key is released."""
    account = service.account(limits=Limits(per_minute=1, per_day=None, per_month=None))
    api = Api(service.key(account))
    assert api.send(otp()).status == 200
    response = batch(api, otp(), otp(), idempotency_key="k")
    assert (response.status, response.code) == (429, "rate_limit_exceeded")
    assert response.headers["ratelimit-limit"] == "1"
    assert "retry-after" not in response.headers
    assert service.claim_items(account) == []


def test_a_batch_is_continued_after_its_owner_died(
    service: Service, api: Api, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protocol: messages that an earlier attempt accepted stay accepted, once, with their ids."""

    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    now = wiring.utc_now()
    messages = [otp(), otp(), otp(to="late@b.example")]
    claims = type(wiring.services().sending_ports.claims)
    with service.at(now), monkeypatch.context() as planted:
        planted.setattr(claims, "finish", die)
        with pytest.raises(Killed):
            batch(api, *messages, idempotency_key="k")
    first = {item["sk"] for item in service.messages(account)}
    assert len(first) == 3
    service.suppress(
        account, "late@b.example"
    )  # it bounced in the meantime, but was accepted before
    with service.at(now + timedelta(seconds=1)):
        waiting = batch(api, *messages, idempotency_key="k")
        assert (waiting.status, waiting.code) == (409, "idempotency_in_flight")
        assert waiting.headers["retry-after"] == "5"
    with service.at(now + LEASE):
        response = batch(api, *messages, idempotency_key="k")
    assert codes(response) == [None] * 3
    assert {item["messageId"] for item in response.json["results"]} == first
    assert service.quota_used(account) == 3


def test_a_response_that_could_not_be_stored_is_still_sent(
    service: Service, api: Api, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protocol: the records are the commit; a response that cannot be stored is still sent."""

    def unreachable(*_: object) -> None:
        raise ServiceError("service_unavailable", "planted")

    claims = type(wiring.services().sending_ports.claims)
    monkeypatch.setattr(claims, "finish", unreachable)
    assert codes(batch(api, otp(), idempotency_key="k")) == [None]
    assert len(service.messages(account)) == 1


@pytest.mark.parametrize("step", ["put_all", "commit_all"])
def test_a_batch_that_cannot_be_accepted_leaves_nothing(
    service: Service, api: Api, account: str, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """If queue or table cannot be reached: 503, and nothing is committed or sent."""

    def unreachable(*_: object) -> None:
        raise ServiceError("service_unavailable", "planted")

    ports = wiring.services().sending_ports
    port = ports.jobs if step == "put_all" else ports.messages
    with monkeypatch.context() as planted:
        planted.setattr(type(port), step, unreachable)
        response = batch(api, otp(), otp())
    assert (response.status, response.code) == (503, "service_unavailable")
    assert service.messages(account) == []
    assert codes(batch(api, otp(), otp())) == [None, None]


def test_only_the_messages_that_the_queue_refuses_fail(
    service: Service, api: Api, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4.2: a message that the queue refuses has the code of 503, and its quota is returned."""
    jobs = type(wiring.services().jobs)
    put_all = jobs.put_all

    def all_but_the_first(self: Any, pairs: Any) -> frozenset[UUID]:
        put_all(self, pairs[1:])
        return frozenset([pairs[0][0].message_id])

    monkeypatch.setattr(jobs, "put_all", all_but_the_first)
    assert codes(batch(api, otp(), otp())) == ["service_unavailable", None]
    assert len(service.messages(account)) == service.quota_used(account) == 1


def test_a_free_account_sends_batches_too(service: Service) -> None:
    """5: live keys may send batches on any plan."""
    assert codes(batch(service.live(Plan.FREE), otp())) == [None]


def test_both_readings_of_the_path_are_the_same(service: Service, account: str) -> None:
    """9: {base_url}/api/v1/v1/emails/batch is the same route."""
    api = Api(service.key(account), base="/v1/v1")
    assert codes(batch(api, otp())) == [None]
    assert MAX_MESSAGES == 100
