"""The fuzzer of HTTP: a short run, and what it would notice."""

import base64
from typing import Any

from tests.contract.bodies import attachment, raw_html
from tests.contract.service import Service
from verification.attacks.http_fuzz import differences_of, fuzz


def test_what_is_asked_is_what_is_sent(service: Service) -> None:
    """Each of 40 bodies is sent as it was asked for; SES and a strict parser accept the result."""
    tally = fuzz(service, cases=40, seconds=600)
    assert not tally.failed, tally.findings
    assert tally["valid inputs tried"] == 40


def test_a_difference_is_noticed(service: Service) -> None:
    """If the message said anything else than the request, the fuzzer would notice."""
    body = raw_html(fromName="Shop", cc=["bob@customer.example"], attachments=[attachment()])
    assert service.live().send(body).status == 200
    service.ses.mails.clear()
    service.deliver()
    (mail,) = service.ses.mails
    assert list(differences_of(body, mail)) == []
    changes: list[tuple[str, Any]] = [
        ("subject", "Another"),
        ("fromName", "Another"),
        ("to", "another@customer.example"),
        ("cc", ["another@customer.example"]),
        ("replyTo", "another@customer.example"),
        ("html", "<p>Another</p>"),
        ("attachments", [attachment(b"another")]),
        ("attachments", [attachment(filename="another.pdf")]),
        ("attachments", [attachment(contentType="image/png")]),
        ("attachments", []),
    ]
    for field, value in changes:
        assert list(differences_of(body | {field: value}, mail)), field
    assert base64.b64encode(b"%PDF-1.7") in mail["raw"]
