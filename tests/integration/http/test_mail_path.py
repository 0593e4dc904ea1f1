"""A mail's whole way: accepted over HTTP, queued, handed to SES, followed, looked up."""

import base64
import os
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from itertools import chain
from typing import Any

import pytest

from pillarbox.settings import SettingError
from tests.aws import forget_wiring
from tests.contract.bodies import TO, attachment, otp, raw_html
from tests.contract.client import Api
from tests.contract.service import SENDER, Service

AT = "2027-01-01T00:00:00.000Z"


@pytest.fixture(autouse=True)
def _nothing_left_over(service: Service) -> None:
    service.jobs()
    service.ses.mails.clear()
    service.ses.failure = None


def parsed(mail: dict[str, Any]) -> EmailMessage:
    return message_from_bytes(mail["raw"], policy=SMTP)


def recipients(mail: dict[str, Any]) -> list[str]:
    """The envelope's recipients."""
    return list(chain(*mail["Destination"].values()))


def event(mail: dict[str, Any], kind: str, part: dict[str, Any]) -> dict[str, Any]:
    """What SES reports of a mail that it was given, with the tags it was given."""
    tags = {tag["Name"]: [tag["Value"]] for tag in mail["EmailTags"]}
    return {
        "eventType": kind,
        "mail": {"timestamp": AT, "messageId": "provider-1", "tags": tags},
        kind.lower(): {"timestamp": AT, **part},
    }


def test_a_mail_is_accepted_sent_and_delivered(service: Service, api: Api) -> None:
    """Send, queue, deliver_message, record_feedback, look-up: pending, sent, delivered."""
    message_id = api.send(otp(cc=["cc@customer.example"], bcc=["bcc@customer.example"])).json[
        "messageId"
    ]
    assert api.get(message_id).json["status"] == "pending"
    assert service.deliver() == []
    (mail,) = service.ses.mails
    sent = api.get(message_id).json
    assert (sent["status"], sent["providerMessageId"]) == ("sent", "provider-1")
    everyone = [TO, "cc@customer.example", "bcc@customer.example"]
    service.report(event(mail, "Delivery", {"recipients": everyone}))
    detail = api.get(message_id).json
    assert detail["status"] == "delivered"
    assert [e["type"] for e in detail["events"]] == ["accepted", "sent", *["delivered"] * 3]


def test_ses_is_given_the_envelope_and_the_tags(service: Service, account: str, api: Api) -> None:
    """SES gets every recipient, the configuration set and the tags; no header shows a Bcc."""
    message_id = api.send(otp(cc=["cc@x.example"], bcc=["bcc@x.example"])).json["messageId"]
    service.deliver()
    (mail,) = service.ses.mails
    assert mail["FromEmailAddress"] == SENDER
    assert recipients(mail) == [TO, "cc@x.example", "bcc@x.example"]
    assert mail["ConfigurationSetName"] == "pillarbox"
    assert {tag["Name"]: tag["Value"] for tag in mail["EmailTags"]} == {
        "account": account,
        "message": message_id,
        "attempt": "1",
    }
    message = parsed(mail)
    assert (message["To"], message["Cc"], message["Bcc"]) == (TO, "cc@x.example", None)
    assert b"bcc@x.example" not in mail["raw"]


def test_html_arrives_as_it_was_written(service: Service, api: Api) -> None:
    """Notes: html is sent as written; {{ }} in it is not touched, nor by variables."""
    html = "<p>{{ name }} {% if x %} &amp; é</p>\n<!-- kept -->"
    api.send(raw_html(html=html, variables={"name": "Ada"}, brandName="B"))
    service.deliver()
    part = parsed(service.ses.mails[0]).get_body(("html",))
    assert part is not None
    assert part.get_content().replace("\r\n", "\n").rstrip("\n") == html


def test_a_saved_template_arrives_filled(service: Service, account: str, api: Api) -> None:
    """A saved template is filled and escaped, and its subject is plain."""
    template = service.template(account, "<p>Hi {{ name }}</p>", subject="For {{ name }}")
    body = {"to": TO, "templateId": template, "variables": {"name": "A & B"}}
    assert api.send(body).status == 200
    service.deliver()
    message = parsed(service.ses.mails[0])
    part = message.get_body(("html",))
    assert part is not None
    assert (message["Subject"], part.get_content().strip()) == ("For A & B", "<p>Hi A &amp; B</p>")


def test_attachments_and_inline_images_arrive(service: Service, api: Api) -> None:
    """A file and an inline picture arrive byte for byte, with names, types and Content-ID."""
    data, picture = os.urandom(50_000), os.urandom(3_000)
    html = '<img src="cid:logo@shop" alt="Logo">'
    files = [
        attachment(data, filename="Rechnung Größe.pdf"),
        attachment(
            picture,
            filename="logo.png",
            contentType="image/png",
            inline=True,
            contentId="logo@shop",
        ),
    ]
    assert api.send(raw_html(html=html, attachments=files)).status == 200
    service.deliver()
    parts = {part.get_filename(): part for part in parsed(service.ses.mails[0]).walk()}
    pdf, png = parts["Rechnung Größe.pdf"], parts["logo.png"]
    assert pdf.get_payload(decode=True) == data
    assert (pdf.get_content_type(), pdf.get_content_disposition()) == (
        "application/pdf",
        "attachment",
    )
    assert png.get_payload(decode=True) == picture
    assert (png["Content-ID"], png.get_content_disposition()) == ("<logo@shop>", "inline")


def test_a_large_mail_goes_through_the_spool(service: Service, api: Api) -> None:
    """Over 200 KB the job names an object of the spool, which is deleted once the mail is sent."""
    data = os.urandom(400_000)
    sent = api.send(otp(attachments=[attachment(data)]))
    assert len(service.spooled()) == 1
    assert service.deliver() == []
    (part,) = parsed(service.ses.mails[0]).iter_attachments()
    assert part.get_payload(decode=True) == data
    assert service.spooled() == []
    assert api.get(sent.json["messageId"]).json["status"] == "sent"


def test_the_queue_carries_no_large_mail(service: Service, api: Api) -> None:
    """SQS takes 1 MiB: a mail with 10 MB of files makes a job of less than 1 KB."""
    half = attachment(os.urandom(5 * 1024 * 1024))
    api.send(otp(attachments=[half, half]))
    (job,) = service.jobs()
    assert len(job["body"]) < 1024


@pytest.mark.parametrize("kind", ["Bounce", "Complaint"])
def test_who_bounced_or_complained_is_not_mailed_again(
    service: Service, api: Api, kind: str
) -> None:
    """A permanent bounce or a complaint refuses the next send, whatever its case."""
    parts: dict[str, dict[str, Any]] = {
        "Bounce": {"bounceType": "Permanent", "bouncedRecipients": [{"emailAddress": TO}]},
        "Complaint": {"complainedRecipients": [{"emailAddress": TO}]},
    }
    api.send(otp())
    service.deliver()
    service.report(event(service.ses.mails[0], kind, parts[kind]))
    for spelling in (TO, TO.upper(), TO.title()):
        answer = api.send(otp(to=spelling))
        assert (answer.status, answer.code) == (400, "recipient_suppressed")
    assert api.send(otp(to="other@customer.example")).status == 200


def test_who_is_suppressed_while_the_mail_is_queued_is_not_mailed(
    service: Service, account: str, api: Api
) -> None:
    """Promise 7: the worker looks at the suppressions once more."""
    message_id = api.send(otp(cc=["cc@customer.example"])).json["messageId"]
    alone = api.send(otp()).json["messageId"]
    service.suppress(account, TO)
    service.deliver()
    (mail,) = service.ses.mails
    assert recipients(mail) == ["cc@customer.example"]
    assert api.get(alone).json["status"] == "failed"
    failed = [e for e in api.get(message_id).json["events"] if e["type"] == "failed"]
    assert [e["recipient"] for e in failed] == [TO]


def test_a_revoked_key_stops_while_its_mail_goes_on(service: Service, api: Api) -> None:
    """Promise 11: a revoked key is refused at once; what was accepted is still delivered."""
    api.send(otp())
    service.revoke(api.key or "")
    assert api.send(otp()).code == "invalid_api_key"
    service.deliver()
    assert len(service.ses.mails) == 1


@pytest.mark.parametrize(
    ("failure", "status", "again"),
    [
        ((400, "MessageRejected"), "failed", 0),
        ((429, "TooManyRequestsException"), "pending", 1),
        ((500, "InternalServerError"), "pending", 1),
    ],
)
def test_what_ses_does_not_take(
    service: Service, api: Api, failure: tuple[int, str], status: str, again: int
) -> None:
    """Refused for good: failed with the reason. Throttled or uncertain: pending, and it returns."""
    message_id = api.send(otp()).json["messageId"]
    service.ses.failure, service.ses.message = failure, "Address is not verified."
    assert len(service.deliver()) == again
    detail = api.get(message_id).json
    assert detail["status"] == status
    assert detail["errorMessage"] == ("Address is not verified." if status == "failed" else None)


def test_a_job_that_comes_twice_is_sent_once(service: Service, api: Api) -> None:
    """Promise 2: a duplicated queue message finds the mail sent already."""
    api.send(otp())
    (job,) = service.jobs()
    assert service.consume("deliver_message", job["body"], job["body"]) == []
    assert len(service.ses.mails) == 1


def test_the_preview_address_never_shows_the_key(service: Service) -> None:
    """A preview mail comes from the fixed sender and carries the attribution."""
    api = service.preview()
    api.send(otp())
    service.deliver()
    (mail,) = service.ses.mails
    assert mail["FromEmailAddress"] == "preview@pillarbox.example"
    assert b"Sent with Pillarbox" in mail["raw"]
    assert base64.b64encode((api.key or "").encode()) not in mail["raw"]


def test_a_missing_setting_ends_the_worker_with_its_name(
    service: Service, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that lacks a setting fails as a whole and says which; the mail waits."""
    api.send(otp())
    forget_wiring()
    monkeypatch.delenv("PILLARBOX_CONFIGURATION_SET")
    with pytest.raises(SettingError, match="PILLARBOX_CONFIGURATION_SET"):
        service.deliver()
    assert service.ses.mails == []
