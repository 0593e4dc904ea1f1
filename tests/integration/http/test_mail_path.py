"""What SES gets of a mail that is accepted over HTTP."""

import base64
import os
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from itertools import chain
from typing import Any

import pytest

from tests.contract.bodies import TO, attachment, otp, raw_html
from tests.contract.client import Api
from tests.contract.service import SENDER, Service


@pytest.fixture(autouse=True)
def _nothing_left_over(service: Service) -> None:
    service.jobs()
    service.ses.mails.clear()
    service.ses.failure = None


def parsed(mail: dict[str, Any]) -> EmailMessage:
    return message_from_bytes(mail["raw"], policy=SMTP)


def recipients(mail: dict[str, Any]) -> list[str]:
    return list(chain(*mail["Destination"].values()))


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
    html = "<p>{{ name }} {% if x %} &amp; é</p>\n<!-- kept -->"
    api.send(raw_html(html=html, brandName="B"))
    service.deliver()
    part = parsed(service.ses.mails[0]).get_body(("html",))
    assert part is not None
    assert part.get_content().replace("\r\n", "\n").rstrip("\n") == html


def test_a_saved_template_arrives_filled(service: Service, account: str, api: Api) -> None:
    template = service.template(account, "<p>Hi {{ name }}</p>", subject="For {{ name }}")
    body = {"to": TO, "templateId": template, "variables": {"name": "A & B"}}
    assert api.send(body).status == 200
    service.deliver()
    message = parsed(service.ses.mails[0])
    part = message.get_body(("html",))
    assert part is not None
    assert (message["Subject"], part.get_content().strip()) == ("For A & B", "<p>Hi A &amp; B</p>")


def test_attachments_and_inline_images_arrive(service: Service, api: Api) -> None:
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


def test_a_revoked_key_stops_while_its_mail_goes_on(service: Service, api: Api) -> None:
    """Promise 11: a revoked key is refused at once; what was accepted is still delivered."""
    api.send(otp())
    service.revoke(api.key or "")
    assert api.send(otp()).code == "invalid_api_key"
    service.deliver()
    assert len(service.ses.mails) == 1


def test_the_preview_address_never_shows_the_key(service: Service) -> None:
    api = service.preview()
    api.send(otp())
    service.deliver()
    (mail,) = service.ses.mails
    assert mail["FromEmailAddress"] == "preview@pillarbox.example"
    assert b"Sent with Pillarbox" in mail["raw"]
    assert base64.b64encode((api.key or "").encode()) not in mail["raw"]
