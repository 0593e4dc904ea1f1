"""The order of checks for a send (docs/contract-notes.md): the first error is reported."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from pillarbox.domain.accounts.key import Preset
from pillarbox.domain.accounts.quota import Limits
from tests.contract.bodies import attachment, otp
from tests.contract.client import Api, ApiResponse
from tests.contract.service import Service

SUPPRESSED = "gone@customer.example"


@dataclass(frozen=True)
class Fault:
    """Something wrong with a request: changes to its body, its key or its account."""

    code: str
    body: dict[str, Any]
    account: dict[str, Any]
    key: str = "live"


def fault(
    code: str, *, key: str = "live", account: dict[str, Any] | None = None, **body: Any
) -> Fault:
    return Fault(code, body, account or {}, key)


#: In the order of the notes.
FAULTS = [
    fault("missing_api_key", key="missing"),
    fault("invalid_api_key", key="revoked"),
    fault("scope_required", key="reading"),
    fault("validation_failed", fromName=5),
    fault("multiple_modes", templateId=str(uuid4())),
    fault("recipient_limit_exceeded", cc=["n@customer.example"] * 50),
    fault("too_many_attachments", attachments=[attachment()] * 11),
    fault("attachment_type_not_allowed", attachments=[attachment(contentType="application/x-sh")]),
    fault("attachment_too_large", attachments=[attachment(b"x" * (5 * 1024 * 1024 + 1))]),
    fault("template_not_found", starterTemplate="nope"),
    fault("no_verified_sender", account={"default": None}),
    fault("invalid_recipient", to="nobody"),
    fault("recipient_suppressed", bcc=[SUPPRESSED]),
    fault("rate_limit_exceeded", account={"limits": Limits(per_minute=0, per_day=0, per_month=0)}),
    fault("invalid_recipient", cc=["ada@nomx.example"]),
]


def send(service: Service, *faults: Fault) -> ApiResponse:
    body, key = otp(), "live"
    settings: dict[str, Any] = {}
    for one in reversed(faults):
        body, settings = body | one.body, settings | one.account
        key = one.key if one.key != "live" else key
    account = service.account(**settings)
    service.suppress(account, SUPPRESSED)
    text = service.key(account, Preset.ANALYTICS if key == "reading" else Preset.SEND)
    if key == "revoked":
        service.revoke(text)
    return Api(None if key == "missing" else text).send(body)


@pytest.mark.parametrize("position", range(len(FAULTS)), ids=lambda n: FAULTS[n].code)
def test_the_first_of_several_errors_is_reported(service: Service, position: int) -> None:
    """Notes, order of checks: a request with this fault and all later ones gets this error."""
    assert send(service, *FAULTS[position:]).code == FAULTS[position].code


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
        html="<p>x</p>",
        fromName="a\nb",
        replyTo="nobody",
        replyTp="x",
        attachments=[attachment(inline=True, filename="", extra=1), attachment(content="=")],
    )
    response = live.raw("POST", "/emails", json.dumps(body), {"Idempotency-Key": ""})
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
