"""Kept content: who reads it, for how long, and how it is sent again."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from email import message_from_bytes
from typing import Any, Final
from unittest import mock
from uuid import UUID

import boto3
import pytest
from botocore.exceptions import ClientError

from pillarbox import wiring
from pillarbox.domain.accounts.key import (
    EMAILS_CONTENT,
    EMAILS_READ,
    EMAILS_SEND,
    SCOPES,
    AgentSettings,
    Confirmation,
)
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.messages.kept import KeptContent
from pillarbox.domain.sign_in.session import Role
from tests.contract.bodies import attachment, otp, raw_html
from tests.contract.client import Api, ApiResponse
from tests.contract.service import SENDER, Service

DAY: Final = timedelta(days=1)
#: A text that no response and no log may have unless its reader has the right.
CANARY: Final = "canary-7f3a-of-a-body"
BODY: Final = f"<p>{CANARY}</p>"


@pytest.fixture
def api(service: Service) -> Api:
    """A client with every scope, of an account that keeps content for a week."""
    return keeping(service, 7)


def keeping(service: Service, days: int) -> Api:
    account_id = service.account()
    api = Api(service.key(account_id, scopes=SCOPES))
    if days:
        changed = api.raw("PATCH", "/account", {"keepDays": days})
        assert (changed.status, changed.json["keepDays"]) == (200, days)
    return api


def delivered(service: Service, api: Api, **body: Any) -> str:
    """Send and deliver an email, and return its id."""
    sent = api.send(raw_html(**{"html": BODY} | body))
    assert sent.status == 200, sent.text
    service.deliver()
    return str(sent.json["messageId"])


def content(api: Api, message_id: str) -> ApiResponse:
    return api.raw("GET", f"/emails/{message_id}/kept")


def resend(api: Api, message_id: str, to: str | None = None, key: str | None = None) -> ApiResponse:
    body = None if to is None else {"to": to}
    headers = {"Idempotency-Key": key} if key else {}
    return api.raw("POST", f"/emails/{message_id}/resend", body, headers)


def objects() -> list[str]:
    page = boto3.client("s3").list_objects_v2(Bucket="pillarbox-spool", Prefix="kept/")
    return [one["Key"] for one in page.get("Contents", [])]


def test_nothing_is_kept_unless_somebody_asked(service: Service) -> None:
    """A new account keeps nothing, whatever a send asks for; no record says that it does."""
    api, before = keeping(service, 0), objects()
    for message_id in (delivered(service, api), delivered(service, api, keep=90)):
        assert api.get(message_id).json["kept"] is None
        assert content(api, message_id).code == "content_not_found"
    assert objects() == before


def test_the_content_is_what_was_handed_over(service: Service, api: Api) -> None:
    """HTML, text and files are shown, and the link has the octets that SES got."""
    message_id = delivered(service, api, subject="Bill", attachments=[attachment()])
    shown = content(api, message_id).json
    raw = service.ses.mails[-1]["raw"]
    assert (shown["subject"], shown["size"]) == ("Bill", len(raw))
    assert CANARY in shown["html"]
    assert CANARY in shown["text"]
    assert [one["contentType"] for one in shown["attachments"]] == ["application/pdf"]
    assert shown["kept"] == api.get(message_id).json["kept"]
    key = next(one for one in objects() if message_id in one)
    stored = boto3.client("s3").get_object(Bucket="pillarbox-spool", Key=key)["Body"].read()
    assert stored == raw
    assert key.startswith("kept/7/")
    assert f"{key}?" in shown["eml"]["url"]


def test_codes_are_never_kept_nor_sent_again(service: Service, api: Api) -> None:
    message_id = str(api.send(otp(keep=7)).json["messageId"])
    service.deliver()
    assert api.get(message_id).json["kept"] is None
    assert content(api, message_id).code == "content_not_found"
    assert (resend(api, message_id).status, resend(api, message_id).code) == (409, "not_resendable")


def test_content_is_for_those_with_the_right(service: Service, api: Api) -> None:
    """Foreign, unknown and over content answer alike; other keys and roles are refused."""
    message_id = delivered(service, api)
    account_id = service_account(api)
    unknown = content(api, "0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d")
    foreign = content(keeping(service, 7), message_id)
    with service.at(wiring.utc_now() + 7 * DAY + timedelta(minutes=1)):
        over = content(api, message_id)
    assert unknown.status == foreign.status == over.status == 404
    assert unknown.json["error"] | {"requestId": ""} == foreign.json["error"] | {"requestId": ""}
    assert unknown.json["error"] | {"requestId": ""} == over.json["error"] | {"requestId": ""}
    lesser = Api(service.key(account_id, scopes=SCOPES - {EMAILS_CONTENT}))
    refused = {"a key": content(lesser, message_id)}
    for role in Role:
        member = Api(session=service.session(account_id, role, f"{role}@shop.example"))
        answer = content(member, message_id)
        if role in {Role.OWNER, Role.DEVELOPER}:
            assert answer.status == 200, role
        else:
            refused[role] = answer
    for who, answer in refused.items():
        assert (answer.status, answer.code) == (403, "scope_required"), who
        assert CANARY not in answer.text


def service_account(api: Api) -> str:
    return str(api.raw("GET", "/account").json["id"])


def test_what_an_owner_shortens_ends_at_once(service: Service, api: Api) -> None:
    """The account's setting of now counts, too; a longer one brings nothing back."""
    message_id = delivered(service, api, keep=1)
    api.raw("PATCH", "/account", {"keepDays": 0})
    assert content(api, message_id).code == "content_not_found"
    assert resend(api, message_id).code == "content_not_found"
    api.raw("PATCH", "/account", {"keepDays": 90})
    assert content(api, message_id).status == 200
    with service.at(wiring.utc_now() + DAY + timedelta(minutes=1)):
        assert content(api, message_id).code == "content_not_found"


def test_each_reading_is_in_the_log(service: Service, api: Api) -> None:
    """The log names the email and the reader, and who changed for how long content is kept."""
    message_id = delivered(service, api)
    content(api, message_id)
    resend(api, message_id)
    service.deliver()
    entries = [
        entry
        for part in ("calls", "changes")
        for entry in api.raw("GET", "/account/log", query={"part": part}).json["items"]
    ]
    entries = [one for one in entries if one["action"] != "api.called"]
    found = [(one["action"], one["subject"]) for one in entries]
    assert found == [
        ("content.read", message_id),
        ("content.resent", message_id),
        ("keep.changed", None),
    ]
    assert entries[-1]["changes"] == [{"name": "keepDays", "before": 0, "after": 7}]
    assert len({one["by"] for one in entries}) == 1
    assert CANARY not in json.dumps(entries)


def test_an_email_is_sent_again(service: Service, api: Api) -> None:
    """The new message has the same content, recipients and template, and an id of its own."""
    message_id = delivered(service, api, cc=["bob@customer.example"], subject="Bill")
    first = message_from_bytes(service.ses.mails[-1]["raw"])
    again = resend(api, message_id, key="again-1")
    assert again.status == 200, again.text
    assert resend(api, message_id, key="again-1").json == again.json
    assert resend(api, message_id, "x@customer.example", key="again-1").status == 409
    service.deliver()
    detail = api.get(again.json["messageId"]).json
    assert (detail["status"], detail["resendOf"]) == ("sent", message_id)
    mail = service.ses.mails[-1]
    second = message_from_bytes(mail["raw"])
    for name in ("From", "To", "Cc", "Subject"):
        assert second[name] == first[name]
    sent = f"<provider-{len(service.ses.mails)}@eu-west-1.amazonses.com>"
    assert (detail["messageIdHeader"], second["Message-ID"]) == (sent, None)
    assert second.as_string().partition("\n\n")[2] == first.as_string().partition("\n\n")[2]
    assert content(api, again.json["messageId"]).json["kept"] is not None
    assert api.get(message_id).json["resendOf"] is None
    page = api.raw("GET", "/emails", query={"recipient": detail["recipientEmail"]}).json["items"]
    assert [item["resendOf"] for item in page] == [message_id, None]


def test_another_address_gets_a_copy(service: Service, api: Api) -> None:
    """It alone is named, and gets no link that unsubscribes somebody else."""
    unsubscribe = {"url": "https://shop.example/stop?id=1", "oneClick": True}
    message_id = delivered(service, api, cc=["bob@customer.example"], unsubscribe=unsubscribe)
    again = resend(api, message_id, "ann@home.example")
    assert again.status == 200, again.text
    service.deliver()
    mail = service.ses.mails[-1]
    parsed = message_from_bytes(mail["raw"])
    assert mail["Destination"]["ToAddresses"] == ["ann@home.example"]
    assert (parsed["To"], parsed["Cc"]) == ("ann@home.example", None)
    assert parsed["List-Unsubscribe"] is None
    assert CANARY in mail["raw"].decode()


def test_sending_again_is_checked_anew(service: Service, api: Api) -> None:
    """Suppressions, sender, quota and rights are those of now; a refusal uses nothing."""
    message_id = delivered(service, api, to="ann@customer.example")
    account_id = service_account(api)
    used = service.quota_used(account_id)
    unknown = "0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d"
    assert resend(api, unknown).code == "message_not_found"
    assert resend(keeping(service, 7), message_id).code == "message_not_found"
    sender = Api(service.key(account_id, scopes=frozenset({EMAILS_SEND, EMAILS_READ})))
    assert resend(sender, message_id, "spy@home.example").code == "scope_required"
    assert resend(api, message_id, "not an address").code == "invalid_recipient"
    service.suppress(account_id, "ann@customer.example")
    assert resend(api, message_id).code == "recipient_suppressed"
    assert service.quota_used(account_id) == used
    assert resend(sender, message_id, None).code == "recipient_suppressed"


def test_looks_at_content_have_a_budget(service: Service, api: Api) -> None:
    """An account reads 60 contents a minute, whether they are there or not."""
    message_id = delivered(service, api)
    with service.at(wiring.utc_now().replace(second=1)):
        found = [content(api, message_id).status for _ in range(30)]
        found += [content(api, "0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d").status for _ in range(30)]
        refused = content(api, message_id)
        assert content(keeping(service, 7), message_id).code == "content_not_found"
    assert found == [200] * 30 + [404] * 30
    assert (refused.status, refused.code) == (429, "rate_limit_exceeded")


@pytest.mark.parametrize("way", ["resend", "reply"])
def test_what_is_refused_is_costly(service: Service, way: str) -> None:
    """What is read for nothing counts as the costly refusals of sends do: 20 in a minute here."""
    account_id = service.account(limits=Limits(per_minute=10, per_day=None, per_month=None))
    api = Api(service.key(account_id, scopes=SCOPES))
    mail = service.receive(account_id, sender="ada@gone.invalid")
    path, body, code = f"/received/{mail.received_id}/reply", {"text": "Hi"}, "invalid_recipient"
    with service.at(wiring.utc_now().replace(second=1)):
        if way == "resend":
            path, body = f"/emails/{delivered(service, api)}/resend", {}
            code = "content_not_found"
        codes = [api.raw("POST", path, body or None).code for _ in range(21)]
    assert codes == [code] * 20 + ["rate_limit_exceeded"]


@pytest.mark.parametrize("confirmation", [Confirmation.ASK, Confirmation.OWNER])
def test_an_agent_does_not_send_again_unconfirmed(
    service: Service, api: Api, confirmation: Confirmation
) -> None:
    """Whoever must confirm its emails is not asked on this route, so nothing is sent."""
    message_id = delivered(service, api)
    settings = AgentSettings(recipients=("customer.example",), confirmation=confirmation, per_day=9)
    agent = Api(service.key(service_account(api), scopes=SCOPES, agent=settings))
    answer = resend(agent, message_id)
    assert (answer.status, answer.code) == (403, "confirmation_required")
    assert service.jobs_of(api) == []


def test_each_author_must_be_a_sender_now(service: Service, api: Api) -> None:
    """A message over SMTP may name two; neither may have left the account since."""
    message_id = delivered(service, api)
    services = wiring.services()
    message = services.message_store.get(service_account(api), UUID(message_id))
    assert message
    for name in ("From", "Sender"):
        fields = {"From": SENDER, "Sender": SENDER} | {name: "gone@elsewhere.example"}
        raw = "".join(f"{field}: {value}\r\n" for field, value in fields.items())
        services.kept_contents.put(KeptContent.of(message), f"{raw}\r\nHi\r\n".encode())
        assert resend(api, message_id).code == "no_verified_sender"


def test_no_log_has_a_body(service: Service, api: Api, caplog: pytest.LogCaptureFixture) -> None:
    """Neither a delivery, a failed one, a reading nor another send logs what an email says."""
    message_id = delivered(service, api)
    with failing_spool():
        unkept = delivered(service, api)
    assert content(api, message_id).status == 200
    assert resend(api, message_id, "ann@home.example").status == 200
    service.deliver()
    assert content(api, unkept).code == "content_not_found"
    log = [str(vars(record)) for record in caplog.records]
    assert not [line for line in log if CANARY in line]
    assert len([line for line in log if "'content': 'not_kept'" in line]) == 1
    assert any(message_id in line for line in log)


@contextmanager
def failing_spool() -> Iterator[None]:
    """Let the writes of kept content fail."""
    error = ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "PutObject")
    writer = wiring.services().kept_contents._writer
    with mock.patch.object(writer, "put_object", side_effect=error):
        yield
