"""POST /v1/emails: contract sections 2.1 to 2.3, 4.1, 8.2 and 8.3."""

import base64
from typing import Any
from uuid import UUID, uuid4

import pytest

from pillarbox.domain.accounts.account import Plan
from tests.contract.bodies import TO, attachment, otp, raw_html
from tests.contract.client import Api
from tests.contract.service import SENDER, Service
from tests.fakes.builders import PREVIEW_SENDER

ALLOWED_TYPES = [
    "application/pdf",
    "text/calendar",
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "text/plain",
    "text/csv",
    "application/msword",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.ms-excel",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.ms-powerpoint",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
]


def test_an_accepted_send_is_queued_and_has_an_id(service: Service, live: Api) -> None:
    """1.1, 2.3, 4.1: the response is 200 with messageId (UUID), status queued and from."""
    service.jobs()
    response = live.send(otp())
    assert response.status == 200
    assert set(response.json) == {"messageId", "status", "from"}
    assert response.json["messageId"] == str(UUID(response.json["messageId"]))
    assert (response.json["status"], response.json["from"]) == ("queued", SENDER)
    assert len(service.jobs()) == 1


def test_the_response_is_json(live: Api) -> None:
    """Conventions: responses use application/json."""
    assert live.send(otp()).headers["content-type"] == "application/json"


def test_a_preview_key_sends_from_the_fixed_preview_sender(preview: Api) -> None:
    """2.3, 5: for preview keys `from` is the fixed preview sender."""
    assert preview.send(otp()).json["from"] == PREVIEW_SENDER


@pytest.mark.parametrize("mode", ["starterTemplate", "templateId", "html"])
def test_the_body_comes_from_one_of_three_modes(service: Service, mode: str) -> None:
    """1.2: the body comes from a starter template, a saved template or raw HTML."""
    account = service.account()
    template = service.template(account, "<p>{{ name }}</p>")
    bodies = {
        "starterTemplate": otp(),
        "templateId": {"to": TO, "templateId": template, "variables": {"name": "Ada"}},
        "html": raw_html(),
    }
    assert Api(service.key(account)).send(bodies[mode]).status == 200


def test_a_send_without_a_mode_is_refused(live: Api) -> None:
    """2.1, 7: without a mode the response is 400 missing_field."""
    assert live.send(otp(starterTemplate=...)).code == "missing_field"


@pytest.mark.parametrize(
    "extra",
    [
        {"html": "<p>x</p>", "subject": "x"},
        {"templateId": str(uuid4())},
        {"templateId": str(uuid4()), "html": "<p>x</p>", "subject": "x"},
    ],
)
def test_more_than_one_mode_is_refused(live: Api, extra: dict[str, Any]) -> None:
    """2.1, 7: more than one mode is 400 multiple_modes."""
    response = live.send(otp(**extra))
    assert (response.status, response.code) == (400, "multiple_modes")


@pytest.mark.parametrize("to", [TO, [TO], [TO, "bob@customer.example"]])
def test_to_is_a_string_or_a_list_of_strings(live: Api, to: object) -> None:
    """2.1: `to` is a string or a list of strings."""
    assert live.send(otp(to=to)).status == 200


@pytest.mark.parametrize(
    "fields",
    [
        {"cc": ["cc@customer.example"]},
        {"bcc": ["bcc@customer.example"]},
        {"replyTo": "help@sender.example"},
        {"fromName": "Harbour"},
        {"brandName": "Harbour"},
        {"logoUrl": "https://harbour.example/logo.png"},
        {"subject": "Your code"},
        {"variables": {"otp_code": "1", "expiry_minutes": 5, "extra": [1, {"a": None}]}},
        {"attachments": []},
        {"attachments": [attachment()]},
        {"cc": [], "bcc": []},
    ],
)
def test_each_optional_field_is_accepted(live: Api, fields: dict[str, Any]) -> None:
    """2.1: each of the optional fields is accepted."""
    assert live.send(otp(**fields)).status == 200


@pytest.mark.parametrize(
    "field",
    [
        "variables",
        "subject",
        "fromName",
        "from",
        "cc",
        "bcc",
        "replyTo",
        "brandName",
        "logoUrl",
        "attachments",
        "html",
        "templateId",
    ],
)
def test_null_is_the_same_as_leaving_an_optional_field_out(service: Service, field: str) -> None:
    """2.1, notes: an optional field may be null."""
    body = {"to": TO, "starterTemplate": "password_changed", field: None}
    assert service.live().send(body).status == 200


def test_subject_is_required_with_html(live: Api) -> None:
    """2.1, notes: html without subject is 422 on `subject`."""
    assert live.send(raw_html(subject=...)).errors == {"subject": "required"}


def test_to_is_required(live: Api) -> None:
    """2.1, notes: a missing or null `to` is 422 on `to`."""
    assert live.send(otp(to=...)).errors == {"to": "required"}
    assert live.send(otp(to=None)).errors == {"to": "wrong_type"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("to", 5),
        ("to", {"address": TO}),
        ("to.0", [5]),
        ("to.1", [TO, None]),
        ("cc", TO),
        ("cc.0", [1]),
        ("bcc", TO),
        ("bcc.1", [TO, True]),
        ("starterTemplate", 1),
        ("templateId", 1),
        ("html", ["<p>"]),
        ("variables", []),
        ("variables", "otp_code=1"),
        ("subject", 5),
        ("fromName", 5),
        ("from", 5),
        ("replyTo", ["a@b.example"]),
        ("brandName", False),
        ("logoUrl", {}),
        ("attachments", {}),
        ("attachments.0", ["file"]),
        ("attachments.0.filename", [attachment(filename=1)]),
        ("attachments.0.contentType", [attachment(contentType=None)]),
        ("attachments.1.content", [attachment(), attachment(content=5)]),
        ("attachments.0.inline", [attachment(inline="yes")]),
        ("attachments.0.inline", [attachment(inline=1)]),
        ("attachments.0.contentId", [attachment(inline=True, contentId=5)]),
    ],
)
def test_a_wrong_type_is_refused_with_its_path(live: Api, field: str, value: object) -> None:
    """2.1, 2.2, 7: types are strict; 422 lists the path of each field with a wrong type."""
    response = live.send(otp(**{field.split(".", maxsplit=1)[0]: value}))
    assert (response.status, response.errors) == (422, {field: "wrong_type"})


@pytest.mark.parametrize("field", ["filename", "contentType", "content"])
def test_an_attachment_needs_its_three_fields(live: Api, field: str) -> None:
    """2.2: filename, contentType and content are required."""
    response = live.send(otp(attachments=[attachment(**{field: ...})]))
    assert response.errors == {f"attachments.0.{field}": "required"}


@pytest.mark.parametrize(
    ("field", "limit"),
    [("subject", 998), ("fromName", 1024), ("brandName", 128)],
)
def test_the_longest_text_is_accepted_and_a_longer_one_is_not(
    live: Api, field: str, limit: int
) -> None:
    """2.1, 8.2: subject has at most 998, fromName 1024 and brandName 128 characters."""
    assert live.send(otp(**{field: "ß" * limit})).status == 200
    refused = live.send(otp(**{field: "x" * (limit + 1)}))
    assert refused.errors == {field: "too_long"}
    assert str(limit) in refused.error["message"]


def test_the_longest_logo_url_is_accepted_and_a_longer_one_is_not(live: Api) -> None:
    """2.1, 8.2: logoUrl has at most 2048 characters."""
    url = "https://harbour.example/".ljust(2048, "x")
    assert live.send(otp(logoUrl=url)).status == 200
    assert live.send(otp(logoUrl=url + "x")).errors == {"logoUrl": "too_long"}


def test_a_filename_has_1_to_255_characters(live: Api) -> None:
    """2.2, 8.2: a filename has 1 to 255 characters."""
    for name in ("x", "x" * 255):
        assert live.send(otp(attachments=[attachment(filename=name)])).status == 200
    for name, code in (("", "too_short"), ("x" * 256, "too_long")):
        response = live.send(otp(attachments=[attachment(filename=name)]))
        assert response.errors == {"attachments.0.filename": code}


def test_fifty_recipients_are_accepted_and_fifty_one_are_not(live: Api) -> None:
    """2.1, 8.2: to, cc and bcc together have at most 50 recipients."""
    addresses = [f"n{n}@customer.example" for n in range(51)]
    lists = {"to": addresses[:20], "cc": addresses[20:40]}
    assert live.send(otp(**lists, bcc=addresses[40:50])).status == 200
    response = live.send(otp(**lists, bcc=addresses[40:]))
    assert (response.status, response.code) == (400, "recipient_limit_exceeded")
    assert response.error["details"] == {"count": 51, "limit": 50}


def test_many_more_recipients_get_the_same_error(live: Api) -> None:
    """8.2: 5,000 recipients get the same error as 51."""
    response = live.send(otp(to=[f"n{n}@customer.example" for n in range(5_000)]))
    assert (response.code, response.error["details"]["count"]) == (
        "recipient_limit_exceeded",
        5_000,
    )


def test_ten_attachments_are_accepted_and_eleven_are_not(live: Api) -> None:
    """2.1, 8.2: an email has at most 10 attachments."""
    assert live.send(otp(attachments=[attachment()] * 10)).status == 200
    response = live.send(otp(attachments=[attachment()] * 11))
    assert (response.status, response.code) == (400, "too_many_attachments")
    assert response.error["details"] == {"count": 11, "limit": 10}


def test_five_megabytes_are_accepted_and_one_byte_more_is_not(live: Api) -> None:
    """7, 8.2: a decoded file has at most 5 MB; the details have scope, sizes and filename."""
    limit = 5 * 1024 * 1024
    assert live.send(otp(attachments=[attachment(b"x" * limit)])).status == 200
    response = live.send(otp(attachments=[attachment(b"x" * (limit + 1))]))
    assert (response.status, response.code) == (400, "attachment_too_large")
    assert response.error["details"] == {
        "scope": "per_attachment",
        "filename": "invoice.pdf",
        "size_bytes": limit + 1,
        "limit_bytes": limit,
    }


def test_ten_megabytes_together_are_accepted_and_one_byte_more_is_not(live: Api) -> None:
    """7, 8.2: all decoded files have at most 10 MB; the details have no filename."""
    half = attachment(b"x" * (5 * 1024 * 1024))
    assert live.send(otp(attachments=[half, half])).status == 200
    response = live.send(otp(attachments=[half, half, attachment(b"x")]))
    assert (response.status, response.code) == (400, "attachment_too_large")
    limit = 10 * 1024 * 1024
    assert response.error["details"] == {
        "scope": "total",
        "size_bytes": limit + 1,
        "limit_bytes": limit,
    }


@pytest.mark.parametrize("content_type", ALLOWED_TYPES)
def test_each_allowed_type_is_accepted(live: Api, content_type: str) -> None:
    """8.3: the fourteen allowed types are accepted."""
    assert live.send(otp(attachments=[attachment(contentType=content_type)])).status == 200


@pytest.mark.parametrize(
    "content_type",
    ["application/octet-stream", "application/x-msdownload", "text/html", "image/svg+xml", ""],
)
def test_any_other_type_is_refused(live: Api, content_type: str) -> None:
    """8.3: any other type is refused, including application/octet-stream and executables."""
    response = live.send(otp(attachments=[attachment(contentType=content_type)]))
    assert (response.status, response.code) == (400, "attachment_type_not_allowed")
    assert response.error["details"]["content_type"] == content_type


def test_an_inline_attachment_has_a_content_id(live: Api) -> None:
    """2.2: an inline attachment needs a contentId, which the HTML refers to as cid:."""
    picture = attachment(contentType="image/png", inline=True, contentId="logo")
    body = raw_html(html='<img src="cid:logo">', attachments=[picture])
    assert live.send(body).status == 200


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"inline": True}, "required"),
        ({"inline": True, "contentId": None}, "required"),
        ({"inline": True, "contentId": ""}, "required"),
        ({"inline": False, "contentId": "logo"}, "not_allowed"),
        ({"contentId": "logo"}, "not_allowed"),
        ({"contentId": ""}, "not_allowed"),
    ],
)
def test_inline_and_content_id_go_together(live: Api, changes: dict[str, Any], code: str) -> None:
    """2.2, 7: inline without contentId, or contentId without inline, is 422 on contentId."""
    response = live.send(otp(attachments=[attachment(**changes)]))
    assert (response.status, response.errors) == (422, {"attachments.0.contentId": code})


@pytest.mark.parametrize("changes", [{}, {"contentId": None}, {"inline": False}])
def test_inline_defaults_to_false(live: Api, changes: dict[str, Any]) -> None:
    """2.2: inline is false by default, and contentId is then left out or null."""
    assert live.send(otp(attachments=[attachment(**changes)])).status == 200


def test_size_is_measured_on_decoded_bytes(live: Api) -> None:
    """2.2: the size of a file is that of its decoded bytes."""
    content = base64.b64encode(b"x" * (5 * 1024 * 1024)).decode()
    assert len(content) > 5 * 1024 * 1024
    assert live.send(otp(attachments=[attachment(content=content)])).status == 200


def test_from_overrides_the_sender_on_a_paid_plan(service: Service) -> None:
    """2.1: `from` replaces the default sender if it is a verified sender of the account."""
    senders = {SENDER: True, "billing@sender.example": True, "new@sender.example": False}
    api = service.live(senders=senders)
    assert api.send(otp(**{"from": "billing@sender.example"})).json["from"] == (
        "billing@sender.example"
    )
    for address in ("new@sender.example", "other@sender.example"):
        refused = api.send(otp(**{"from": address}))
        assert (refused.status, refused.code) == (403, "no_verified_sender")
        assert refused.error["details"] == {"from": address}


def test_from_is_ignored_on_a_free_plan(free: Api) -> None:
    """2.1: on free plans the default sender is always used."""
    assert free.send(otp(**{"from": "other@sender.example"})).json["from"] == SENDER


@pytest.mark.parametrize("plan", [Plan.FREE, Plan.STANDARD])
@pytest.mark.parametrize(
    ("default", "senders"),
    [(None, {}), (None, {SENDER: True}), (SENDER, {SENDER: False}), (SENDER, {})],
)
def test_a_verified_default_sender_is_required(
    service: Service, plan: Plan, default: str | None, senders: dict[str, bool]
) -> None:
    """5, 7: without a verified default sender a send is 403 no_verified_sender."""
    response = service.live(plan, default=default, senders=senders).send(otp())
    assert (response.status, response.code) == (403, "no_verified_sender")


def test_an_unknown_template_is_not_found(service: Service, live: Api) -> None:
    """7: an unknown slug, an unknown id and another account's id are 404 template_not_found."""
    foreign = service.template(service.account(), "<p>x</p>")
    for body in (
        otp(starterTemplate="newsletter"),
        otp(starterTemplate=""),
        {"to": TO, "templateId": str(uuid4())},
        {"to": TO, "templateId": foreign},
    ):
        response = live.send(body)
        assert (response.status, response.code) == (404, "template_not_found")


@pytest.mark.parametrize(
    "address",
    ["nobody", "a@b@c.example", "ada@gone.invalid", "ada@nomx.example", "ada@nullmx.example"],
)
def test_an_invalid_address_or_one_without_mx_is_refused(live: Api, address: str) -> None:
    """7: an invalid address, or one whose domain has no MX record, is 400 invalid_recipient."""
    response = live.send(otp(cc=[address]))
    assert (response.status, response.code) == (400, "invalid_recipient")
    assert [entry["address"] for entry in response.error["details"]["recipients"]] == [address]


@pytest.mark.parametrize("field", ["to", "cc", "bcc"])
def test_a_suppressed_recipient_is_refused(service: Service, field: str) -> None:
    """3, 7: a send to an address that bounced or complained is 400 recipient_suppressed."""
    account = service.account()
    service.suppress(account, "gone@customer.example", "complained")
    response = Api(service.key(account)).send(otp(**{field: ["gone@customer.example"]}))
    assert (response.status, response.code) == (400, "recipient_suppressed")
    assert response.error["type"] == "invalid_request_error"
    assert response.error["details"]["recipients"] == [
        {"address": "gone@customer.example", "reason": "complained"}
    ]


def test_a_suppression_belongs_to_one_account(service: Service, live: Api) -> None:
    """3, notes: another account may still send to the suppressed address."""
    service.suppress(service.account(), TO)
    assert live.send(otp()).status == 200


@pytest.mark.parametrize("body", [raw_html(), {"to": TO, "templateId": str(uuid4())}])
def test_a_preview_key_sends_starter_templates_only(preview: Api, body: dict[str, Any]) -> None:
    """2.1, 5, 7: html and templateId with a preview key are 403 with upgrade_url."""
    response = preview.send(body)
    assert (response.status, response.code) == (403, "upgrade_required")
    assert response.error["upgrade_url"] == "https://pillarbox.example/upgrade"
