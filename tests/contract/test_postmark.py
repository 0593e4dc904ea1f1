"""The API in Postmark's shape, as its clients use it (`make sdks` runs them)."""

import base64
import json
from base64 import encodebytes
from email import message_from_bytes
from email.policy import default
from typing import Any, Final
from unittest.mock import ANY

import pytest

from openapi.operations import OPERATIONS
from openapi.responses import error_codes
from pillarbox import wiring
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.errors import CODES, ServiceError
from pillarbox.http.postmark import ATTACHMENT, EMAIL, TEMPLATED, reply_postmark_error
from tests.contract.bodies import TO, everything
from tests.contract.client import Api, ApiResponse
from tests.contract.guides import check_table
from tests.contract.service import SENDER, Service
from tests.loops import for_each

_EMAIL: Final[dict[str, Any]] = {
    "From": f"Acme <{SENDER}>",
    "To": TO,
    "Subject": "Hello from Postmark",
    "HtmlBody": "<strong>Hello</strong> dear Postmark user.",
}
#: As django-anymail sends an integer.
_PRIORITY: Final = [{"Name": "X-Priority", "Value": 1}]
_OTP: Final[dict[str, Any]] = {
    "From": SENDER,
    "To": TO,
    "TemplateAlias": "otp",
    "TemplateModel": {"otp_code": "1"},
}
_FILE: Final = {
    "Name": "l.png",
    "Content": "iVBORw0KGgo=",
    "ContentType": "image/png",
    "ContentID": "cid:logo",
}


class Postmark:
    """A client with one key."""

    def __init__(self, key: str) -> None:
        self.key = key

    def post(self, path: str, body: object, **headers: str) -> ApiResponse:
        sent = {"Content-Type": "application/json"} | headers
        return Api(self.key, "/postmark").raw("POST", path, body, sent)

    def send(self, **fields: Any) -> ApiResponse:
        """Send an email with these fields; None leaves one out."""
        email = {name: value for name, value in (_EMAIL | fields).items() if value is not None}
        return self.post("/email", email)


@pytest.fixture
def postmark(service: Service) -> Postmark:
    """Return a client with the key of a paid account."""
    return Postmark(service.live().key or "")


def test_a_header_asks_for_answers(service: Service) -> None:
    """`X-Replies` is the field `replies`, and no header of the email."""
    account = service.account()
    wiring.services().account_store.set_reply_domain(account, "in.shop.example")
    postmark = Postmark(service.key(account))
    for value in ("true", "false"):
        header = {"Name": "x-replies", "Value": value}
        assert postmark.send(Headers=[header]).status == 200
    jobs = [json.loads(job["body"])["payload"] for job in service.jobs()]
    assert [job.get("reply_domain") for job in jobs] == ["in.shop.example", None]
    assert "x-replies" not in json.dumps(jobs).lower()
    refused = postmark.send(Headers=[{"Name": "X-Replies", "Value": "yes"}]).json
    assert (refused["ErrorCode"], "X-Replies" in refused["Message"]) == (300, True)


def test_an_email_is_sent(service: Service, postmark: Postmark) -> None:
    """The response has the fields that clients read, and the id of an email of the account."""
    answer = postmark.send().json
    assert answer == {
        "To": TO,
        "SubmittedAt": ANY,
        "MessageID": ANY,
        "ErrorCode": 0,
        "Message": "OK",
    }
    assert service.deliver() == []
    found = Api(postmark.key).get(answer["MessageID"]).json
    assert (found["subject"], found["status"]) == ("Hello from Postmark", "sent")


def test_what_php_sends(service: Service, postmark: Postmark) -> None:
    """postmark-php names each file by an id and has empty lists; the case of names is free."""
    file = {"Name": "a.pdf", "Content": "JVBERi0xLjQ=", "ContentType": "application/pdf"}
    nothing: dict[str, Any] = {
        "Cc": "",
        "ReplyTo": "",
        "Headers": [],
        "Metadata": [],
        "TrackOpens": None,
    }
    sent = postmark.send(**nothing, Attachments=[file | {"ContentId": "a.pdf"}])
    assert sent.status == 200
    lower = {
        "from": SENDER,
        "TO": TO,
        "subject": "x",
        "textbody": "x",
        "replyto": "Jo <a@b.example>",
    }
    assert postmark.post("/email", lower).status == 200
    service.deliver()
    first, second = (mail["raw"] for mail in service.ses.mails[-2:])
    headers = [{}, {"name": "X-A", "value": None}, {"NAME": "X-B", "Value": "1", "Type": None}]
    numbers: dict[str, Any] = {"Metadata": {"order": 10442}, "Headers": [*headers, *_PRIORITY]}
    assert postmark.send(To=f"{TO}, ", **numbers).status == 200
    service.deliver()
    assert b"\r\nX-Priority: 1\r\n" in service.ses.mails[-1]["raw"]
    templated = {"messages": [_OTP | {"Headers": headers}]}
    assert postmark.post("/email/batchWithTemplates", templated).json[0]["ErrorCode"] == 0
    assert b'Content-Disposition: attachment; filename="a.pdf"' in first
    assert b"Content-ID" not in first
    assert b'\r\nReply-To: "Jo" <a@b.example>\r\n' in second


def test_what_ruby_and_symfony_send(service: Service, postmark: Postmark) -> None:
    """Base64 is in lines, and a library of mail has put its own fields into the message."""
    pdf = b"%PDF-1.7" * 20
    files = [
        {"Name": "a.pdf", "ContentType": "application/pdf", "Content": encodebytes(pdf).decode()},
        _FILE | {"Content": "iVBO\r\nRw0K\r\nGgo=\r\n"},
    ]
    written = {
        "Message-Id": "<1@shop.example>",
        "Mime-Version": "1.0",
        "Date": "Sat, 28 Nov 2026 12:00:00 +0000",
        "Content-Transfer-Encoding": "7bit",
        "References": "<2@shop.example>",
    }
    headers = [{"Name": name, "Value": value} for name, value in written.items()]
    assert postmark.send(Headers=headers, Attachments=files).status == 200
    service.deliver()
    raw = service.ses.mails[-1]["raw"]
    assert base64.b64encode(pdf) in raw.replace(b"\r\n", b"")
    assert b"References: <2@shop.example>\r\n" in raw
    assert b"Message-Id" not in raw
    assert raw.count(b"MIME-Version: 1.0\r\n") == 1


@for_each(
    "html, content_id, count",
    [
        ('<img src="cid:logo">', "logo", 1),
        ("<img src=CID:logo>", "logo", 1),
        ("<img src='cid:logo%40shop'>", "logo@shop", 1),
        ("<img src='cid:a&amp;b'>", "cid:a&b", 1),
        ("<p style='background:url(cid:logo)'>", "logo", 1),
        ('<img src="cid:logo2">', "logo", 0),
        ('<img src="cid:logo.png">', "logo", 0),
        ("logo", "logo", 0),
        ("<p>x", "Rechnung März.png", 0),
        (f"<p>&#{'1' * 5000};<img src='cid:logo'>", "logo", 1),
    ],
)
def test_a_file_is_inline_if_the_html_shows_it(
    html: str, content_id: str, count: int, service: Service, postmark: Postmark
) -> None:
    """The link may be in capitals or encoded; a link to another id does not count."""
    assert (
        postmark.send(HtmlBody=html, Attachments=[_FILE | {"ContentID": content_id}]).status == 200
    )
    service.deliver()
    raw = service.ses.mails[-1]["raw"]
    assert raw.count(b"Content-ID: <") == raw.count(b"Content-Disposition: inline") == count


def test_both_doors_make_the_same_mail(service: Service, postmark: Postmark) -> None:
    """An email with every field is the same mail as that of POST /v1/emails."""
    pdf = base64.b64encode(b"%PDF-1.7").decode()
    theirs = _EMAIL | {
        "To": f"{TO}, bob@customer.example",
        "Cc": "cc@customer.example",
        "Bcc": "bcc@customer.example",
        "HtmlBody": '<img src="cid:logo">',
        "ReplyTo": "help@sender.example",
        "Subject": "hello world",
        "TextBody": "it works!",
        "Headers": [{"Name": "X-Entity-Ref-ID", "Value": "1"}],
        "Tag": "receipt",
        "Metadata": {"order": "10442"},
        "Attachments": [
            {"Name": "invoice.pdf", "Content": pdf, "ContentType": "application/pdf"},
            _FILE,
        ],
    }
    ours = everything(tags={"order": "10442", "tag": "receipt"})
    assert {*theirs} == {*EMAIL.carried}
    assert postmark.post("/email", theirs).status == 200
    assert Api(postmark.key).send(ours).status == 200
    first, second = (
        json.loads(job["body"])["payload"] for job in service.jobs_of(Api(postmark.key))
    )
    assert first == second


def test_templates_by_id_and_by_alias(service: Service) -> None:
    account = service.account()
    client = Postmark(service.key(account))
    saved = service.template(account, "<p>{{ name }}</p>")
    named = {"From": SENDER, "To": TO, "TemplateModel": {"name": "Ada"}, "InlineCss": True}
    for body in (named | {"TemplateId": saved}, named | {"TemplateAlias": saved}, _OTP):
        assert client.post("/email/withTemplate/", body).json["ErrorCode"] == 0
    several = client.post("/email/batchWithTemplates", {"Messages": [_OTP, _OTP]}).json
    assert [one["ErrorCode"] for one in several] == [0, 0]
    missing = client.post("/email/withTemplate", named | {"TemplateId": service.template("x", "y")})
    assert (missing.status, missing.json["ErrorCode"]) == (422, 1101)
    other = service.template(account, "<p>Another</p>")
    both = client.post("/email/withTemplate", named | {"TemplateId": saved, "TemplateAlias": other})
    assert both.json["Message"] == "Give only one of `TemplateId` and `TemplateAlias`."


def test_a_batch_sends_each_email_that_is_valid(service: Service, postmark: Postmark) -> None:
    emails = [_EMAIL, _EMAIL | {"To": "nobody"}, _EMAIL | {"To": "b@customer.example"}]
    first, second, third = postmark.post("/email/batch", emails).json
    assert (first["ErrorCode"], first["To"], third["To"]) == (0, TO, "b@customer.example")
    assert second == {"ErrorCode": 300, "Message": ANY}
    assert len(service.jobs_of(Api(postmark.key))) == 2


def test_a_retry_with_a_key_sends_once(service: Service, postmark: Postmark) -> None:
    """An Idempotency-Key, which Postmark lacks, works on each route."""
    for path, body in (
        ("/email", _EMAIL),
        ("/email/batch", [_EMAIL]),
        ("/email/withTemplate", _OTP),
    ):
        first, again = (postmark.post(path, body, **{"Idempotency-Key": "1"}) for _ in range(2))
        assert first.text == again.text
    assert len(service.jobs_of(Api(postmark.key))) == 3
    other = postmark.post("/email", _EMAIL | {"Tag": "x"}, **{"Idempotency-Key": "1"})
    assert (other.status, other.json["ErrorCode"]) == (422, 300)


def test_suppressed_recipients_are_named_as_clients_expect(service: Service) -> None:
    """The official clients take the addresses from the words of error 406."""
    account = service.account()
    client = Postmark(service.key(account))
    service.suppress(account, "ada@customer.example")
    refused = client.send(To="ada@customer.example, bob@customer.example")
    assert (refused.status, refused.json["ErrorCode"]) == (422, 406)
    assert "Found inactive addresses: ada@customer.example. Inactive" in refused.json["Message"]


def test_who_may_not_send(service: Service) -> None:
    """A missing or wrong key, a foreign sender and a spent quota have Postmark's numbers."""
    missing = Api(base="/postmark").raw("POST", "/email", "{}")
    assert (missing.status, missing.json["ErrorCode"]) == (401, 10)
    for key in ("POSTMARK_API_TEST", "bx_live_wrong", service.session(service.account())):
        assert (Postmark(key).send().status, Postmark(key).send().json["ErrorCode"]) == (401, 10)
    client = Postmark(service.live(limits=Limits(per_minute=9, per_day=1, per_month=9)).key or "")
    foreign = client.send(From="x@other.example")
    assert (foreign.status, foreign.json["ErrorCode"]) == (422, 400)
    assert client.send().status == 200
    spent = client.send()
    assert (spent.status, spent.json["ErrorCode"]) == (422, 405)
    other = client.post("/server", {})
    assert (other.status, other.json["ErrorCode"]) == (404, 404)
    assert client.post("/email", _EMAIL, **{"X-Account": "0" * 12}).json["ErrorCode"] == 300


def test_recipients_have_names(service: Service, postmark: Postmark) -> None:
    """A list is split at its commas, but not in quotes, and the names are in the email."""
    to = f'"Doe, Ann" <ann@customer.example>, {TO},Ada <ada2@customer.example>'
    assert postmark.post("/email", _EMAIL | {"To": to}).status == 200
    assert service.deliver() == []
    parsed = message_from_bytes(service.ses.mails[-1]["raw"], policy=default)
    assert [(one.display_name, one.addr_spec) for one in parsed["To"].addresses] == [
        ("Doe, Ann", "ann@customer.example"),
        ("", TO),
        ("Ada", "ada2@customer.example"),
    ]


@for_each(
    "change, text",
    [
        ({"Subject": None}, "`Subject` is missing"),
        ({"From": ""}, "`From` is missing"),
        ({"HtmlBody": None}, "Give `HtmlBody` or `TextBody`"),
        ({"To": None}, "`To` is missing"),
        ({"To": [TO]}, "`To` must be a string"),
        ({"To": f"Ada, Bob <{TO}>"}, "Ada"),
        ({"Cc": f"a <x> <{TO}>"}, "`Cc.0`"),
        ({"ReplyTo": "x"}, "`ReplyTo.0`"),
        ({"Unknown": 1}, "`Unknown` is not a field"),
        ({"TemplateId": 1}, "`TemplateId` is not a field"),
        ({"TrackOpens": 0}, "`TrackOpens` opens are not tracked"),
        ({"Metadata": [1]}, "`Metadata` must be an object"),
        ({"Metadata": {"a b": "1"}}, "`Metadata`"),
        ({"Metadata": {"tag": "1"}, "Tag": "2"}, "`Metadata` has the name tag"),
        ({"Headers": [{"Name": "Bcc", "Value": "x@y.example"}]}, "`Headers"),
        ({"Headers": [{"Name": "X-A", "Value": "1\r\nBcc: x@y.example"}]}, "`Headers"),
        ({"Headers": [{"Name": "X-A", "Value": "1"}] * 2}, "`Headers.1.Name`"),
        ({"Headers": {"X-A": "1"}}, "`Headers` must be a list"),
        ({"Attachments": [{"Name": "a.pdf", "Path": "/etc/passwd"}]}, "`Attachments.0.Path`"),
        ({"Attachments": ["x"]}, "`Attachments.0`"),
        ({"TO": "eve@customer.example"}, "`To` is given twice"),
        ({"cc": "", "Cc": TO}, "`Cc` is given twice"),
        ({"Attachments": [_FILE | {"name": "b.png"}]}, "`Attachments.0.Name` is given twice"),
        ({"Headers": [{"Name": "X-A", "name": "X-B", "Value": "1"}]}, "`Headers.0.Name` is given"),
        ({"Headers": [{"Name": f"X-{n}", "Value": "1"} for n in range(101)]}, "20 fields"),
        ({"Cc": f"\u200b <{TO}>"}, "`Cc.0` must not consist of"),
        ({"ReplyTo": f"=?utf-8?b?4oCL?= <{TO}>"}, "`ReplyTo.0` must not consist of"),
        ({"Subject": "a\r\nBcc: x@y.example"}, "`Subject`"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], text: str, postmark: Postmark) -> None:
    """An invalid request is error 300, whose message names the field as Postmark does."""
    refused = postmark.send(**change)
    assert (refused.status, refused.json["ErrorCode"]) == (422, 300)
    assert text in refused.json["Message"]


def test_other_bodies_are_refused(postmark: Postmark) -> None:
    """A body of another form is error 300, and a batch over the limit 410."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    refused = Api(postmark.key, "/postmark").raw("POST", "/email", "From=x", form)
    assert refused.json["Message"] == "The body is a form, not JSON."
    for path, body in (
        ("/email", [_EMAIL]),
        ("/email", '"x"'),
        ("/email/batch", _EMAIL),
        ("/email/batch", []),
        ("/email/batchWithTemplates", [_OTP]),
        ("/email/withTemplate", _OTP | {"TemplateAlias": None, "TemplateId": 12}),
    ):
        refused = postmark.post(path, body)
        assert (refused.status, refused.json["ErrorCode"]) == (422, 300), path
    many = postmark.post("/email/batch", [_EMAIL] * 101)
    assert (many.status, many.json["ErrorCode"]) == (422, 410)


_HEAD: Final = "| field | on these routes | since |\n|---|---|---|\n"
#: A value of each field that has other ones than `_EMAIL` and `_OTP`.
_VALUES: Final[dict[str, Any]] = {
    "Cc": "cc@customer.example",
    "Bcc": "bcc@customer.example",
    "ReplyTo": "help@sender.example",
    "TextBody": "Hello",
    "Headers": [{"Name": "X-Entity-Ref-ID", "Value": "1"}],
    "Attachments": [{"Name": "a.pdf", "Content": "JVBERi0xLjc="}],
    "Tag": "receipt",
    "Metadata": {"order": "10442"},
}


def test_the_guide_lists_what_is_carried(service: Service) -> None:
    """The table in docs/guides/postmark.md is what a client meets when it sends each field."""
    account = service.account()
    client = Postmark(service.key(account))
    saved = service.template(account, "<p>x</p>")
    rows = []
    for fields, path, least in (
        (EMAIL, "/email", _EMAIL),
        (TEMPLATED, "/email/withTemplate", _OTP),
    ):
        for name in fields.carried:
            body = least | {name: (_VALUES | least).get(name, saved)}
            if name == "TemplateId":
                body |= {"TemplateAlias": None, "TemplateModel": {}}
            assert client.post(path, body).json["ErrorCode"] == 0, name
            rows.append(f"| `{name}` | carried | 0.1.0 |\n")
        for name, (only, _) in fields.settled.items():
            assert client.post(path, least | {name: only}).json["ErrorCode"] == 0
            refused = client.post(path, least | {name: "other"}).json["Message"]
            reason = refused.removeprefix(f"`{name}` ").rstrip(".")
            assert reason != refused
            rows.append(f"| `{name}` | only `{json.dumps(only)}`: {reason} | 0.1.0 |\n")
    assert {*_FILE} == ATTACHMENT.names
    assert client.send(Attachments=[_FILE]).status == 200
    rows += [f"| `Attachments[].{name}` | carried | 0.1.0 |\n" for name in _FILE]
    check_table("postmark.md", _HEAD, rows)


def test_every_error_of_a_send_has_a_number() -> None:
    """Each code that the document lists for sends has a number of Postmark's, or its own status."""
    sends = {"send_email", "send_batch"}
    codes = {code for one in OPERATIONS if one.id in sends for code in error_codes(one)}
    shown = {code: reply_postmark_error(ServiceError(code, "no")) for code in codes}
    numbers = {
        code: (it.status_code, json.loads(it.body or "")["ErrorCode"]) for code, it in shown.items()
    }
    theirs = {(401, 10), (503, 100)} | {(422, one) for one in (300, 400, 405, 406, 410, 1101)}
    own = {
        *("client_blocked", "method_not_allowed", "idempotency_in_flight"),
        *("rate_limit_exceeded", "internal_error"),
    }
    assert {numbers[code] for code in codes - own} == theirs
    of_keys = {code for code, number in numbers.items() if number == (401, 10)}
    assert of_keys == {"missing_api_key", "invalid_api_key", "scope_required"}
    assert all(numbers[code] == (CODES[code][0],) * 2 for code in own)
