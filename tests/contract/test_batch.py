"""POST /v1/emails/batch over HTTP: contract sections 2.4, 4.2, 8.2 and the notes on batches.

Limits, quotas, replays, faults and takeovers of a batch are tested with the use case.
"""

from typing import Any
from uuid import UUID

import pytest

from tests.contract.bodies import TO, attachment, otp, raw_html
from tests.contract.client import Api, ApiResponse
from tests.contract.service import SENDER, Service
from tests.loops import for_each


def batch(api: Api, *messages: object, idempotency_key: str | None = None) -> ApiResponse:
    headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
    return api.raw("POST", "/emails/batch", {"messages": messages}, headers)


def codes(response: ApiResponse) -> list[str | None]:
    """Return the error code of each result; None if the message was accepted."""
    assert response.status == 200, response.text
    return [item["error"] and item["error"]["code"] for item in response.json["results"]]


def test_each_message_has_a_result_and_is_delivered(
    service: Service, api: Api, account: str
) -> None:
    """1, 2.4, 4.2: idx, messageId, status queued and from; large mail comes from the spool."""
    large = raw_html(attachments=[attachment(b"%PDF" + bytes(300_000))])
    response = batch(api, otp(), large, otp(to=["a@b.example"]))
    assert codes(response) == [None, None, None]
    results = response.json["results"]
    assert [item["idx"] for item in results] == [0, 1, 2]
    assert {(item["status"], item["from"]) for item in results} == {("queued", SENDER)}
    ids = [item["messageId"] for item in results]
    assert set(ids) == {item["sk"] for item in service.messages(account)}
    assert {UUID(message_id).version for message_id in ids} == {7}
    assert {api.get(message_id).json["status"] for message_id in ids} == {"pending"}
    service.deliver()
    assert {api.get(message_id).json["status"] for message_id in ids} == {"sent"}


ITEM_FAULTS: list[tuple[str, Any]] = [
    ("missing_field", otp(starterTemplate=...)),
    ("multiple_modes", raw_html(starterTemplate="otp")),
    ("validation_failed", otp(replyto="a@b.example")),
    ("validation_failed", "no object"),
    ("validation_failed", None),
    ("validation_failed", otp(variables={})),
    ("invalid_recipient", otp(to="a@nowhere.invalid")),
    ("recipient_suppressed", otp(to="Gone@b.example")),
    ("recipient_limit_exceeded", otp(to=[TO] * 51)),
    ("too_many_attachments", raw_html(attachments=[attachment()] * 11)),
    ("attachment_type_not_allowed", raw_html(attachments=[attachment(b"MZ")])),
    ("attachment_not_found", raw_html(attachments=[{"attachmentId": str(UUID(int=7))}])),
    ("template_not_found", otp(starterTemplate="../x")),
    ("template_not_found", otp(starterTemplate=..., templateId=str(UUID(int=7)))),
    ("no_verified_sender", otp(**{"from": "other@sender.example"})),
]


@for_each(("code", "faulty"), ITEM_FAULTS)
def test_one_failure_does_not_affect_the_others(service: Service, code: str, faulty: Any) -> None:
    """65, 4.2: messages are independent; a failed one has nulls and an error, and costs nothing.

    A retry with the key repeats the errors as well.
    """
    account = service.account()
    api = Api(service.key(account))
    service.suppress(account, "gone@b.example")
    response = batch(api, otp(), faulty, otp(), idempotency_key="k")
    assert codes(response) == [None, code, None]
    failed = response.json["results"][1]
    assert (failed["messageId"], failed["status"], failed["from"]) == (None, None, None)
    assert {"code", "message", "type"} <= set(failed["error"])
    again = batch(api, otp(), faulty, otp(), idempotency_key="k")
    assert (again.text, again.headers["idempotent-replay"]) == (response.text, "true")
    assert len(service.messages(account)) == service.quota_used(account) == 2


def test_errors_name_the_position_in_the_batch(api: Api) -> None:
    """Notes: details.errors[] has dotted paths with positions; the status is 200 nevertheless."""
    response = batch(api, otp(cc=[1]), raw_html(subject=...))
    assert codes(response) == ["validation_failed"] * 2
    errors = [item["error"]["details"]["errors"] for item in response.json["results"]]
    assert [[error["field"] for error in each] for each in errors] == [
        ["messages.0.cc.0"],
        ["messages.1.subject"],
    ]


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
    ("body", "code"),
    [
        *(
            (body, "validation_failed")
            for body in (
                *("{}", '{"messages": []}', '{"messages": {}}', "[]", "1", "{"),
                '{"messages": [{}], "extra": 1}',
            )
        ),
        ('{"messages": [' + "0," * 1_000_000 + "0]}", "batch_limit_exceeded"),
    ],
    ids=range(8),
)
def test_a_malformed_batch_is_refused_as_a_whole(api: Api, body: str, code: str) -> None:
    """24, 4.2, 7: without an array of 1 to 100 messages the request is 422, or 400 if more."""
    assert api.raw("POST", "/emails/batch", body).code == code
