"""The API in Resend's shape, used by Resend's official SDK for Python."""

import base64
import json
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default
from typing import Any, Final
from unittest.mock import ANY

import pytest
import resend
from resend import exceptions

from openapi.operations import OPERATIONS
from openapi.responses import error_codes
from pillarbox.domain.accounts.key import SCOPES, Preset
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.errors import ServiceError
from pillarbox.http.resend.replies import EMAIL_FIELDS, REFUSED, reply_resend_error
from tests.contract.bodies import TO, everything
from tests.contract.client import Api
from tests.contract.guides import check_table
from tests.contract.operations import in_an_hour
from tests.contract.resend_sdk import in_process, raised
from tests.contract.service import SENDER, Service
from tests.loops import for_each

#: As programs without types use it.
SDK: Final[Any] = resend
EMAIL: dict[str, Any] = {
    "from": f"Acme <{SENDER}>",
    "to": [TO],
    "subject": "hello world",
    "html": "<strong>it works!</strong>",
}


@pytest.fixture
def sdk(service: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    """Point the SDK at a service, with the key of a paid account."""
    in_process(monkeypatch)
    monkeypatch.setattr(resend, "api_key", service.live().key)
    return service


def test_the_example_of_the_sdk_sends(sdk: Service) -> None:
    """The README's example sends; its id finds the email, with what happened to it."""
    sent = SDK.Emails.send(EMAIL)
    assert sdk.deliver() == []
    found: dict[str, Any] = SDK.Emails.get(sent["id"])
    assert (found["id"], found["from"], found["to"]) == (sent["id"], f"Acme <{SENDER}>", [TO])
    assert (found["subject"], found["last_event"], found["html"]) == ("hello world", "sent", None)
    assert found["message_id"] == f"<provider-{len(sdk.ses.mails)}@eu-west-1.amazonses.com>"


def test_both_doors_make_the_same_mail(sdk: Service) -> None:
    """An email with every field is the same mail and record as that of POST /v1/emails."""
    theirs = EMAIL | {
        "to": [TO, "bob@customer.example"],
        "html": '<img src="cid:logo">',
        "cc": "cc@customer.example",
        "bcc": ["bcc@customer.example"],
        "reply_to": ["help@sender.example"],
        "text": "it works!",
        "headers": {"X-Entity-Ref-ID": "1"},
        "tags": [{"name": "order", "value": "10442"}],
        "attachments": [
            {"filename": "invoice.pdf", "content": [*b"%PDF-1.7"]},
            {"filename": "l.png", "content": "iVBORw0KGgo=", "content_id": "logo"},
        ],
    }
    assert {*theirs} == {*EMAIL_FIELDS} - {"template", "scheduled_at"}
    SDK.Emails.send(theirs)
    assert Api(resend.api_key).send(everything()).status == 200
    first, second = (json.loads(job["body"])["payload"] for job in sdk.jobs_of(Api(resend.api_key)))
    assert first == second
    own = {"messageId", "createdAt", "updatedAt", "requestId", "events"}
    listed = Api(resend.api_key).raw("GET", "/emails").json["items"]
    details = [Api(resend.api_key).get(item["messageId"]).json for item in listed]
    assert len(details) == 2
    one, other = ({n: v for n, v in detail.items() if n not in own} for detail in details)
    assert one == other


#: A value for each field that an email of Resend's SDKs may have, beside those that each has.
FIELDS: dict[str, Any] = {
    "from": EMAIL["from"],
    "to": EMAIL["to"],
    "subject": "hello world",
    "html": EMAIL["html"],
    "text": "it works!",
    "cc": "cc@customer.example",
    "bcc": "bcc@customer.example",
    "reply_to": "help@sender.example",
    "headers": {"X-Entity-Ref-ID": "1"},
    "tags": [{"name": "order", "value": "10442"}],
    "template": {"id": "otp", "variables": {"otp_code": "1"}},
    "attachments": [{"filename": "a.pdf", "content": "JVBERi0xLjc="}],
    "attachments[].content_type": "application/pdf",
    "attachments[].content_id": "logo",
    "attachments[].path": "https://customer.example/a.pdf",
    "scheduled_at": in_an_hour(),
    "topic_id": "b6d24b8e-af0b-4c3c-be0c-359bbd97381e",
    "react": "<Email/>",
}
_HEAD = "| field | | since |\n|---|---|---|\n"


@pytest.mark.usefixtures("sdk")
def test_the_guide_lists_what_is_carried_and_what_is_refused() -> None:
    """The table in docs/guides/resend.md is what the SDK meets when it sends each field."""
    rows = []
    for name, value in FIELDS.items():
        email = EMAIL | ({"html": None} if name == "template" else {})
        if name.startswith("attachments[]."):
            file = FIELDS["attachments"][0] | {name.rpartition(".")[2]: value}
            email |= {"attachments": [file]}
        else:
            email |= {name: value}
        try:
            SDK.Emails.send({key: part for key, part in email.items() if part is not None})
            rows.append(f"| `{name}` | carried | 0.1.0 |\n")
        except exceptions.ResendError as error:
            reason = error.message.partition("` ")[2].rstrip(".")
            rows.append(f"| `{name}` | refused: {reason} | |\n")
    check_table("resend.md", _HEAD, rows)
    assert {name for name in FIELDS if "[]" not in name} == {*EMAIL_FIELDS, *REFUSED}


def test_recipients_have_names(sdk: Service) -> None:
    """Those in `to` and `cc` are in the email as a mail program reads them, and no field is added.

    One in `bcc` is shown to nobody. A name that is not clearly one is refused by its field.
    """
    names = {
        "to": ['"Doe, Ann" <ann@customer.example>', "Zoë Øre <zoe@customer.example>", TO],
        "cc": "Eve <eve@customer.example>",
        "bcc": "Bob <bob@customer.example>",
    }
    sent = SDK.Emails.send(EMAIL | names)
    assert sdk.deliver() == []
    mail = sdk.ses.mails[-1]
    parsed = message_from_bytes(mail["raw"], policy=default)
    to = [(one.display_name, one.addr_spec) for one in parsed["To"].addresses]
    assert to == [
        ("Doe, Ann", "ann@customer.example"),
        ("Zoë Øre", "zoe@customer.example"),
        ("", TO),
    ]
    assert [one.addr_spec for one in parsed["Cc"].addresses] == ["eve@customer.example"]
    assert parsed["Bcc"] is None
    assert not any(part in mail["raw"] for part in (b"bob@", b"Bob"))
    assert SDK.Emails.get(sent["id"])["to"] == [
        *("ann@customer.example", "zoe@customer.example"),
        TO,
    ]
    hidden = f"=?utf-8?q?Ev=0D=0ABcc=3A_eve=40x.example?= <{TO}>"
    for bad in (
        hidden,
        f"Ada <x@y.example> <{TO}>",
        f"Ada <{TO}",
        f"{'a' * 2000} <{TO}>",
    ):
        assert raised(SDK.Emails.send, EMAIL | {"to": [bad]}).error_type == "validation_error"


def test_text_alone_is_sent_as_text(sdk: Service) -> None:
    """An email with `text` and no HTML has one part, as over the contract's own route."""
    SDK.Emails.send({k: v for k, v in EMAIL.items() if k != "html"} | {"text": "Hi"})
    assert sdk.deliver() == []
    assert Api(resend.api_key).send({"to": TO, "subject": "x", "text": "Hi"}).status == 200
    assert sdk.deliver() == []
    for mail in sdk.ses.mails[-2:]:
        assert b"Content-Type: text/plain; charset=utf-8" in mail["raw"]
        assert b"multipart" not in mail["raw"]


def test_a_key_is_sent_in_one_form(service: Service) -> None:
    key = service.live().key
    for value, status in (
        (f"BEARER  {key}", 200),
        (f"Bearer\t{key}", 401),
        (f"Bearer \t{key}", 401),
        (f"Bearer\xa0{key}", 401),
        (f"Bearer {key} more", 401),
        (["Basic eA==", f"Bearer {key}"], 401),
        ([f"Bearer {key}", "Bearer x"], 401),
    ):
        answer = Api(base="/resend").raw("GET", "/emails", headers={"Authorization": value})
        assert answer.status == status, value


def resend_raw(service: Service, **fields: Any) -> bytes:
    """Send the body of a framework, and return what SES got."""
    answer = Api(service.live().key, "/resend").raw("POST", "/emails", fields)
    assert answer.status == 200, answer.json
    assert service.deliver() == []
    raw: bytes = service.ses.mails[-1]["raw"]
    return raw


def test_what_laravel_sends(service: Service) -> None:
    """Laravel's transport has empty lists for what is not given, and a calendar as plain text."""
    calendar = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n"
    raw = resend_raw(
        service,
        bcc=[],
        cc=[],
        headers=[],
        html="<p>x</p>",
        reply_to=[],
        subject="Welcome",
        text=None,
        to=[TO],
        attachments=[
            {"filename": "invite.ics", "content_type": "text/calendar", "content": calendar},
            {"filename": "empty.txt", "content": "", "content_id": "", "content_type": ""},
            {"filename": "a.pdf", "content": "JVBERi0x\r\nLjc=\r\n"},
            {"filename": "b.ics", "content": "\ufeffbegin:vcalendar\r\n"},
        ],
        tags=[{}, {"name": "None", "value": "x"}, {"name": "order", "value": None, "type": None}],
        template={"id": None, "variables": []},
        **{"from": f'"Acme" <{SENDER}>'},
    )
    assert b"Content-Type: text/calendar; charset=utf-8; method=REQUEST" in raw
    assert base64.b64encode(calendar.encode()) in raw.replace(b"\r\n", b"")
    assert b'filename="empty.txt"' in raw
    assert base64.b64encode("\ufeffbegin:vcalendar\r\n".encode()) in raw


def test_names_need_no_quotes(service: Service) -> None:
    """Each recipient and each mailbox for replies may have a name in any form (django-anymail)."""
    raw = resend_raw(
        service,
        to=["Short, Jonathan <ann@customer.example>", "Jane [IT] <jane@customer.example>"],
        reply_to=["Support <support@sender.example>", "b@sender.example"],
        subject="x",
        text="x",
        **{"from": f"Doe & Sons :) <{SENDER}>"},
    )
    unfolded = raw.replace(b"\r\n ", b" ")
    assert b'To: "Short, Jonathan" <ann@customer.example>, "Jane [IT]" <jane@' in unfolded
    assert b'Reply-To: "Support" <support@sender.example>, b@sender.example\r\n' in unfolded
    assert f'From: "Doe & Sons :)" <{SENDER}>'.encode() in unfolded


@for_each(
    ("words", "seconds"),
    [
        ("in 1 min", 60),
        ("in 1 hour", 3_600),
        ("In an hour", 3_600),
        ("in 90 minutes", 5_400),
        ("in 2 days", 172_800),
    ],
)
def test_a_time_in_words(service: Service, words: str, seconds: int) -> None:
    """`in 1 hour` is a time of Resend's documentation."""
    key, at = service.live().key, datetime.now(UTC)
    body = {"from": SENDER, "to": TO, "subject": "x", "text": "x", "scheduled_at": words}
    sent = Api(key, "/resend").raw("POST", "/emails", body)
    due = datetime.fromisoformat(Api(key).get(sent.json["id"]).json["scheduledAt"])
    assert -5 <= (due - at).total_seconds() - seconds <= 30


@for_each("path", ["/emails/metrics", "/emails/1/attachments", "/contacts"])
def test_methods_that_are_not_here(service: Service, path: str) -> None:
    """A method of the SDK for which there is no route is 404, and the error names it."""
    answer = Api(service.live().key, "/resend").raw("GET", path)
    assert answer.status == 404
    assert f"no {path[1:]} of Resend's" in answer.json["message"]


def test_templates_by_id_and_by_slug(sdk: Service) -> None:
    """`template` names a saved template by its id, or a starter by its slug."""
    account = sdk.account()
    resend.api_key = sdk.key(account)
    saved = sdk.template(account, "<p>{{ name }}</p>")
    fields = {"from": SENDER, "to": TO}
    for template in (
        {"id": saved, "variables": {"name": "Ada"}},
        {"id": "otp", "variables": {"otp_code": "1"}},
    ):
        assert SDK.Emails.send(fields | {"template": template})["id"]


def test_a_retry_with_the_same_key_returns_the_same_id(sdk: Service) -> None:
    """An Idempotency-Key works as in the contract, with Resend's errors."""
    options: Any = {"idempotency_key": "order-1"}
    first, second = (SDK.Emails.send(EMAIL, options) for _ in range(2))
    assert first["id"] == second["id"]
    assert len(sdk.jobs_of(Api(resend.api_key))) == 1
    error = raised(SDK.Emails.send, EMAIL | {"subject": "other"}, options)
    assert (error.code, error.error_type) == (409, "invalid_idempotent_request")


def test_a_strict_batch_sends_all_or_none(sdk: Service) -> None:
    """By default one bad email refuses the batch, and the message says which one."""
    two: Any = [EMAIL, EMAIL | {"subject": "second"}]
    assert len(SDK.Batch.send(two)["data"]) == 2
    for bad in ({"to": "nobody"}, {"from": "x@other.example"}, {"scheduled_at": "tomorrow"}):
        error = raised(SDK.Batch.send, [EMAIL, EMAIL | bad])
        assert error.code in {403, 422}
        assert "1" in error.message
    assert len(sdk.jobs_of(Api(resend.api_key))) == 2


def test_a_permissive_batch_sends_what_is_valid(sdk: Service) -> None:
    bad: Any = [EMAIL | {"to": "nobody"}, EMAIL]
    answer: Any = SDK.Batch.send(bad, {"batch_validation": "permissive"})
    assert len(answer["data"]) == len(sdk.jobs_of(Api(resend.api_key))) == 1
    assert [error["index"] for error in answer["errors"]] == [0]


def test_a_strict_batch_beyond_the_quota_takes_nothing(sdk: Service) -> None:
    api = sdk.live(limits=Limits(per_minute=1, per_day=9, per_month=9))
    resend.api_key = api.key
    error = raised(SDK.Batch.send, [EMAIL, EMAIL])
    assert (error.code, error.error_type) == (429, "rate_limit_exceeded")
    assert sdk.jobs_of(Api(resend.api_key)) == []
    assert SDK.Emails.send(EMAIL)["id"]


def test_an_email_is_scheduled_moved_and_canceled(sdk: Service) -> None:
    """`scheduled_at`, `update` and `cancel` of the SDK, and what an email shows then."""
    at, later = in_an_hour(), in_an_hour().replace("+00:00", "Z")
    sent = SDK.Emails.send(EMAIL | {"scheduled_at": at})["id"]
    assert sdk.jobs_of(Api(resend.api_key)) == []
    waiting: dict[str, Any] = SDK.Emails.get(sent)
    assert (waiting["last_event"], waiting["message_id"]) == ("scheduled", "")
    assert SDK.Emails.update({"id": sent, "scheduled_at": later})["id"] == sent
    assert SDK.Emails.cancel(sent)["id"] == sent
    assert SDK.Emails.get(sent)["last_event"] == "canceled"
    error = raised(SDK.Emails.update, {"id": sent, "scheduled_at": later})
    assert (error.code, error.error_type) == (422, "validation_error")
    words = raised(SDK.Emails.send, EMAIL | {"scheduled_at": "tomorrow at 9"})
    assert "scheduled_at" in words.message


@pytest.mark.usefixtures("sdk")
def test_a_list_is_paged_by_ids() -> None:
    """`after` and `before` lead through all emails, newest first, each once."""
    sent = [SDK.Emails.send(EMAIL | {"subject": str(n)})["id"] for n in range(5)][::-1]
    pages: list[Any] = [SDK.Emails.list({"limit": 2})]
    while pages[-1]["has_more"]:
        pages.append(SDK.Emails.list({"limit": 2, "after": pages[-1]["data"][-1]["id"]}))
    assert [item["id"] for page in pages for item in page["data"]] == sent
    back: Any = SDK.Emails.list({"limit": 2, "before": sent[3]})
    assert ([item["id"] for item in back["data"]], back["has_more"]) == (sent[1:3], True)
    back = SDK.Emails.list({"limit": 5, "before": sent[1]})
    assert ([item["id"] for item in back["data"]], back["has_more"]) == (sent[:1], False)
    assert SDK.Emails.list({"before": sent[0]})["data"] == []
    # Any UUID may be asked for. This one would be of the year 10889.
    latest = "ffffffff-ffff-4fff-bfff-ffffffffffff"
    assert len(SDK.Emails.list({"after": latest})["data"]) == len(sent)
    assert SDK.Emails.list({"before": latest})["data"] == []


@pytest.mark.usefixtures("sdk")
def test_each_error_is_the_class_that_the_sdk_has_for_it() -> None:
    """Missing and wrong keys, missing and refused fields raise the SDK's own classes by name."""
    names: tuple[Any, ...] = (
        ({"subject": None}, exceptions.MissingRequiredFieldsError, "`subject` is missing"),
        ({"html": None}, exceptions.MissingRequiredFieldsError, "`html`, `text` or `template`"),
        ({"reply_to": "x"}, exceptions.ValidationError, "`reply_to.0`"),
        ({"to": "nobody"}, exceptions.ValidationError, "nobody"),
        ({"unknown": 1}, exceptions.ValidationError, "`unknown` is not a field"),
        ({"template": {"id": "otp"}}, exceptions.ValidationError, "`html` and `template`"),
        *(({name: "x"}, exceptions.ValidationError, f"`{name}`") for name in REFUSED),
    )
    for change, kind, text in names:
        error = raised(SDK.Emails.send, EMAIL | change)
        assert type(error) is kind, error.message
        assert text in error.message
    attachment = {"filename": "a.pdf", "path": "https://x.example/a.pdf"}
    error = raised(SDK.Emails.send, EMAIL | {"attachments": [attachment]})
    assert "attachments.0.path" in error.message
    resend.api_key = "bx_live_wrong"
    assert type(raised(SDK.Emails.send, EMAIL)) is exceptions.InvalidApiKeyError
    assert Api(base="/resend").raw("POST", "/emails", "{}").json == {
        "statusCode": 401,
        "name": "missing_api_key",
        "message": ANY,
    }
    assert Api(base="/resend").raw("GET", "/emails", None, {"X-API-Key": "x"}).status == 401


def test_templates_are_listed_and_shown(sdk: Service) -> None:
    """The published templates of the account have the SDK's fields, and pages by their ids."""
    account = sdk.account()
    resend.api_key = sdk.key(account, Preset.CUSTOM, scopes=SCOPES)
    assert SDK.Templates.list()["data"] == []
    ids = [sdk.template(account, "<p>{{ name }}</p>") for _ in range(3)]
    newest = sorted(ids, reverse=True)
    page: Any = SDK.Templates.list({"limit": 2})
    assert ([one["id"] for one in page["data"]], page["has_more"]) == (newest[:2], True)
    rest: Any = SDK.Templates.list({"limit": 2, "after": newest[1]})
    assert ([one["id"] for one in rest["data"]], rest["has_more"]) == (newest[2:], False)
    back: Any = SDK.Templates.list({"limit": 1, "before": newest[2]})
    assert ([one["id"] for one in back["data"]], back["has_more"]) == ([newest[1]], True)
    shown: Any = SDK.Templates.get(ids[0])
    assert (shown["html"], shown["status"]) == ("<p>{{ name }}</p>", "published")
    assert [one["key"] for one in shown["variables"]] == ["name"]
    error = raised(SDK.Templates.get, sdk.template(sdk.account(), "x"))
    assert (error.code, error.error_type) == (404, "not_found")
    resend.api_key = sdk.key(account)
    assert raised(SDK.Templates.list).error_type == "restricted_api_key"


@pytest.mark.usefixtures("sdk")
def test_changes_of_templates_are_refused_by_name() -> None:
    for call, argument in (
        (SDK.Templates.create, {"name": "x", "html": "y"}),
        (SDK.Templates.publish, "x"),
        (SDK.Templates.remove, "x"),
    ):
        error = raised(call, argument)
        assert (error.code, error.error_type) == (401, "restricted_api_key")
        assert "Keys do not change templates here" in error.message
    resend.api_key = "bx_live_wrong"
    assert type(raised(SDK.Templates.publish, "x")) is exceptions.InvalidApiKeyError


def test_what_pillarbox_does_not_have_is_not_found(sdk: Service) -> None:
    """A resource of Resend that has no counterpart answers 404 in Resend's shape."""
    error = raised(SDK.Segments.list)
    assert (error.code, error.error_type) == (404, "not_found")
    error = raised(SDK.Emails.get, "019b7998-4c00-7000-8000-000000000001")
    assert (error.code, error.error_type) == (404, "not_found")
    assert sdk.jobs_of(Api(resend.api_key)) == []


_FRONT: Final = {
    *("send_email", "send_batch", "get_message", "list_messages"),
    *("list_templates", "get_template"),
}


_MANAGED: Final = ("/v1/domains", "/v1/keys", "/v1/suppressions", "/v1/webhooks")


def test_every_error_has_a_name_of_resend() -> None:
    """Each code that the document lists for our own routes has a name that Resend documents.

    https://resend.com/docs/api-reference/errors
    """
    codes = {
        code
        for one in OPERATIONS
        if one.id in _FRONT or one.path.startswith(_MANAGED)
        for code in error_codes(one)
    }
    # These routes take no sessions and no `If-Match`, and other services refuse no User-Agent.
    codes -= {"invalid_session", "already_exists", "client_blocked"}
    shown = {code: reply_resend_error(ServiceError(code, "no")) for code in codes}
    names = {
        code: (it.status_code, json.loads(it.body or "")["name"]) for code, it in shown.items()
    }
    of_files = {code for code, name in names.items() if name == (422, "invalid_attachment")}
    assert of_files == {
        *("attachment_type_not_allowed", "attachment_too_large", "too_many_attachments"),
        *("attachment_not_found", "request_too_large"),
    }
    assert {*names.values()} == {
        (401, "missing_api_key"),
        (401, "restricted_api_key"),
        (403, "invalid_api_key"),
        (403, "restricted_api_key"),
        (403, "validation_error"),
        (404, "not_found"),
        (405, "method_not_allowed"),
        (409, "concurrent_idempotent_requests"),
        (409, "invalid_idempotent_request"),
        (422, "invalid_attachment"),
        (422, "missing_required_field"),
        (422, "validation_error"),
        (429, "daily_quota_exceeded"),
        (429, "monthly_quota_exceeded"),
        (429, "rate_limit_exceeded"),
        (500, "application_error"),
        (503, "application_error"),
    }
