"""Self-service keys (docs/decisions/accounts.md), over HTTP, from the request to SES."""

import json
from email import message_from_bytes, policy

import pytest

from tests.contract.bodies import TO, otp
from tests.contract.client import Api
from tests.contract.service import Service
from tests.fakes.builders import PREVIEW_SENDER


@pytest.fixture
def self_service(service: Service) -> Api:
    """A preview key made for self-service."""
    return service.preview(self_service=True)


def test_ses_gets_a_test_with_samples(service: Service, self_service: Api) -> None:
    """The email has the samples, the prefix, and the line at the top of HTML and text."""
    own = {"otp_code": "900555", "app_name": "https://evil.example"}
    assert self_service.send(otp(variables=own)).status == 200
    service.deliver()
    mail = message_from_bytes(service.ses.mails[-1]["raw"], policy=policy.default)
    assert mail["Subject"] == "[Test] Your Harbour code"
    assert (mail["From"], mail["To"], mail["Reply-To"]) == (PREVIEW_SENDER, TO, None)
    bodies = [part.get_content() for part in mail.walk() if not part.is_multipart()]
    assert [part.get_content_type() for part in mail.walk()][1:] == ["text/plain", "text/html"]
    assert bodies[0].startswith("This is a test. All names, codes, amounts and links")
    for body in bodies:
        assert "482913" in body
        assert "900555" not in body
        assert "evil" not in body


def test_fields_that_are_null_or_empty_are_not_given(self_service: Api) -> None:
    absent = dict.fromkeys(("fromName", "subject", "brandName", "logoUrl", "replyTo"))
    assert self_service.send(otp(**absent, cc=[], bcc=[], attachments=[])).status == 200


def test_a_batch_is_refused_and_previews_work(service: Service, self_service: Api) -> None:
    """A batch is 403; a preview shows the caller's own values, to the caller alone."""
    batch = self_service.raw("POST", "/emails/batch", json.dumps({"messages": [otp()]}))
    assert (batch.status, batch.code) == (403, "upgrade_required")
    shown = self_service.preview("otp", {"variables": {"otp_code": "900555"}})
    assert shown.status == 200
    assert "900555" in shown.json["html"]
    assert "This is a test." not in shown.json["html"]
    assert self_service.starters().text == service.preview().starters().text
