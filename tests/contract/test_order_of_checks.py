"""The order of checks for a send (docs/errors.md) over HTTP.

tests/unit/application/test_application_single.py has the whole order, fault by fault.
"""

from uuid import uuid4

from pillarbox.domain.accounts.key import Preset
from tests.contract.bodies import attachment, otp
from tests.contract.client import Api
from tests.contract.service import Service


def test_the_key_comes_before_the_body(service: Service, account: str) -> None:
    """Notes, order of checks: a key that may not send learns nothing about its request."""
    wrong, key = otp(fromName=5, templateId=str(uuid4())), service.key(account)
    reading = service.key(account, Preset.ANALYTICS)
    for text, code in (
        (None, "missing_api_key"),
        (f"{key}0", "invalid_api_key"),
        (reading, "scope_required"),
        (key, "validation_failed"),
    ):
        assert Api(text).send(wrong).code == code


def test_a_used_idempotency_key_comes_before_template_and_recipient(live: Api) -> None:
    """Notes, order of checks: idempotency comes after counts and before the template."""
    live.send(otp(), idempotency_key="k")
    for body in (otp(starterTemplate="nope"), otp(to="nobody")):
        assert live.send(body, idempotency_key="k").code == "idempotency_key_mismatch"
    crowded = live.send(otp(cc=["n@customer.example"] * 50), idempotency_key="k")
    assert crowded.code == "recipient_limit_exceeded"


def test_a_422_lists_all_errors(live: Api) -> None:
    """7, notes: details.errors[] has every error, of headers and of fields."""
    body = otp(
        to=...,
        cc=["a@b.example", 5],
        starterTemplate=...,
        html="<p>x</p>",
        fromName="a\nb",
        replyTo="nobody",
        replyTp="x",
        attachments=[attachment(inline=True, filename="", extra=1), attachment(content="=")],
    )
    response = live.raw("POST", "/emails", body, {"Idempotency-Key": ""})
    assert response.errors == {
        "Idempotency-Key": "invalid_header",
        "to": "required",
        "cc.1": "wrong_type",
        "subject": "required",
        "fromName": "control_character",
        "replyTo": "invalid_address",
        "replyTp": "unknown_field",
        "attachments.0.filename": "too_short",
        "attachments.0.contentId": "required",
        "attachments.0.extra": "unknown_field",
        "attachments.1.content": "invalid_base64",
    }
    for listed in response.error["details"]["errors"]:
        assert set(listed) == {"field", "message", "code"}
        assert listed["message"]


def test_a_422_for_a_template_lists_all_errors_too(live: Api) -> None:
    """7, notes: errors of logoUrl and of all variables are reported together."""
    body = otp(
        starterTemplate="team_invite",
        variables={"accept_url": "javascript:x", "team_name": "North"},
        logoUrl="http://harbour.example/logo.png",
    )
    assert live.send(body).errors == {
        "logoUrl": "invalid_url",
        "variables.inviter_name": "missing_variable",
        "variables.accept_url": "invalid_url",
    }
