"""POST /v1/emails: contract sections 2.1 to 2.3, 4.1, and 4.11."""

import json
from email import message_from_bytes

import pytest

from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.quota import Limits
from tests.contract.bodies import TO, otp, raw_html
from tests.contract.client import Api
from tests.contract.service import SENDER, Service
from tests.fakes.builders import PREVIEW_SENDER


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


def test_a_sender_is_a_mailbox_in_any_case(service: Service) -> None:
    """RFC 5321 2.3.11: `from` in other letters is the same mailbox; SES gets the verified form."""
    api = service.live(senders={SENDER: True, "Billing@sender.example": True})
    sent = api.send(otp() | {"from": "billing@SENDER.example"})
    assert (sent.status, sent.json["from"]) == (200, "Billing@sender.example")
    assert api.send(otp() | {"from": "billin@sender.example"}).code == "no_verified_sender"


def test_variables_are_put_into_the_html_of_the_caller(service: Service, live: Api) -> None:
    """2.1: beside `html` each given `{{ name }}` gets its value, escaped; all else stays."""
    body = raw_html(
        subject="Hi {{ name }}",
        html="<p>{{name}} {{ order.id }} {{ absent }} {% if x %} {{ name | upper }} {{{name}}}</p>",
        text="Hi {{ name }}, {{ absent }}",
        variables={"name": "<A&B> {{ order.id }}", "order": {"id": 7}},
    )
    assert live.send(body).status == 200
    assert service.deliver() == []
    mail = service.ses.mails[-1]["raw"]
    parts = {
        part.get_content_type(): part.get_payload(decode=True).decode()  # type: ignore[union-attr]
        for part in message_from_bytes(mail).walk()
        if not part.is_multipart()
    }
    name = "&lt;A&amp;B&gt; {{ order.id }}"
    assert parts["text/html"].strip() == (
        f"<p>{name} 7 {{{{ absent }}}} {{% if x %}} {{{{ name | upper }}}} {{{name}}}</p>"
    )
    assert parts["text/plain"].strip() == "Hi <A&B> {{ order.id }}, {{ absent }}"
    assert b"Subject: Hi <A&B> {{ order.id }}\r\n" in mail
    for variables, code in (
        ({"name": ["x"]}, {"variables.name": "invalid_type"}),
        ({"name": "x" * 200_000}, {"variables": "too_large"}),
        ({"name": "€" * 60_000}, {"variables": "too_large"}),
        ({"name": "a\u202eb"}, {"variables": "unsafe_subject"}),
    ):
        html = "{{name}}" * 20
        refused = live.send(body | {"html": html, "variables": variables})
        assert refused.errors == code
    # The text part has 1 MB at most, of octets and not of characters.
    for count, status in ((5, 200), (6, 422)):
        large = raw_html(text="{{name}}" * count, variables={"name": "€" * 60_000})
        assert live.send(large).status == status


def test_a_subject_without_variables_stays_as_it_is(service: Service, live: Api) -> None:
    """2.1: values are put on one line, and a subject that has none keeps its blanks."""
    for subject, written in (("a  b", b"=?utf-8?q?a__b?="), ("a  {{ x }}", b"a b c")):
        assert live.send(raw_html(subject=subject, variables={"x": "b\n c"})).status == 200
        service.deliver()
        assert b"\r\nSubject: " + written + b"\r\n" in service.ses.mails[-1]["raw"]


def test_text_alone_needs_a_subject(live: Api) -> None:
    """`text` with `subject` is a whole email; without it the subject is missing.

    A template has a subject, so one with html is refused for being two.
    """
    alone = {"to": TO, "text": "Hi", "subject": "x"}
    assert live.send(alone).status == 200
    batch = live.raw("POST", "/emails/batch", {"messages": [alone]}).json
    assert [one["status"] for one in batch["results"]] == ["queued"]
    assert live.send({"to": TO, "text": "Hi"}).errors == {"subject": "required"}
    assert live.send(otp() | {"html": "<p>Hi</p>"}).code == "multiple_modes"
    assert live.send(otp() | {"text": "Hi"}).status == 200


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


def test_a_new_account_writes_to_its_contact_before_it_has_a_sender(service: Service) -> None:
    """The email comes from the service's address; one to anybody else is 403, which says so."""
    api = service.live(default=None, senders={}, contact=TO)
    sent = api.send(otp(to=TO.upper()))
    assert (sent.status, sent.json["from"]) == (200, PREVIEW_SENDER)
    for wish in ({"to": "x@example.com"}, {"cc": ["x@example.com"]}, {"from": "x@example.com"}):
        refused = api.send(otp(**wish))
        assert refused.code == "no_verified_sender"
        assert f"sends to {TO} only" in refused.json["error"]["message"]
    assert api.send(otp(hold=True)).code == "no_verified_sender"


def test_a_retry_gets_the_first_response_again(service: Service) -> None:
    """4.11, notes: equal JSON with the key of its account is a replay, even if the rest differs.

    It needs no quota, and the address may be suppressed by now. Another body is a mismatch.
    """
    key = "order-1" + "~" * 249
    account = service.account(limits=Limits(per_minute=1, per_day=1, per_month=1))
    body = otp(fromName="Zoë", cc=None)
    first = Api(service.key(account)).send(body, idempotency_key=key)
    assert (first.status, "idempotent-replay" in first.headers) == (200, False)
    service.suppress(account, TO)
    turned = json.dumps(dict(reversed(otp(fromName="Zoë").items())), indent=2, ensure_ascii=False)
    retry = Api(service.key(account))
    as_sent = {"idempotency-key": [key], "Content-Encoding": [" Identity ", ""]}
    again = retry.raw("POST", "/emails", turned.encode(), as_sent)
    assert (again.status, again.text) == (200, first.text)
    assert again.headers["idempotent-replay"] == "true"
    other = retry.send(raw_html(), idempotency_key=key)
    assert other.code == "idempotency_key_mismatch"
    assert "retry-after" not in other.headers
    batch = {"messages": [otp()]}
    elsewhere = retry.raw("POST", "/emails/batch", batch, {"Idempotency-Key": key})
    assert "idempot" not in f"{elsewhere.text}{elsewhere.headers}"
    assert len(service.messages(account)) == service.quota_used(account) == 1
