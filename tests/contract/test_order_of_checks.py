"""The order of checks for a send (docs/contract-notes.md): of two errors the first is reported."""

import json
from dataclasses import dataclass
from itertools import pairwise
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


#: In the order of the notes. Two can be combined if they change different parts of a request.
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
]


def pairs() -> list[tuple[Fault, Fault]]:
    combinations = []
    for position, first in enumerate(FAULTS):
        for second in FAULTS[position + 1 :]:
            same_key = first.key != "live" and second.key != "live"
            if not same_key and not set(first.body) & set(second.body):
                combinations.append((first, second))
    return combinations


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


@pytest.mark.parametrize("one", FAULTS, ids=lambda f: f.code)
def test_each_error_is_reported(service: Service, one: Fault) -> None:
    """Notes, order of checks: each error by itself has its own code."""
    assert send(service, one).code == one.code


@pytest.mark.parametrize(
    ("first", "second"), pairs(), ids=lambda f: f.code.removesuffix("_exceeded")
)
def test_of_two_errors_the_first_is_reported(service: Service, first: Fault, second: Fault) -> None:
    """Notes, order of checks: of several errors, the first is reported."""
    assert send(service, first, second).code == first.code


def test_all_neighbours_are_compared() -> None:
    """Notes, order of checks: all neighbours are tested that can be combined."""
    combined = {(a.code, b.code) for a, b in pairs()}
    apart = [(a.code, b.code) for a, b in pairwise(FAULTS) if (a.code, b.code) not in combined]
    assert apart == [
        ("missing_api_key", "invalid_api_key"),
        ("invalid_api_key", "scope_required"),
        ("too_many_attachments", "attachment_type_not_allowed"),
        ("attachment_type_not_allowed", "attachment_too_large"),
    ]


@pytest.mark.parametrize(
    ("attachments", "code"),
    [
        ([attachment(contentType="x/y")] * 11, "too_many_attachments"),
        ([attachment(b"x" * (5 * 1024 * 1024 + 1))] + [attachment()] * 10, "too_many_attachments"),
        (
            [attachment(b"x" * (5 * 1024 * 1024 + 1)), attachment(contentType="x/y")],
            "attachment_type_not_allowed",
        ),
    ],
)
def test_attachments_are_checked_by_count_type_and_size(
    live: Api, attachments: list[dict[str, Any]], code: str
) -> None:
    """Notes, order of checks: first too_many, then type_not_allowed, then too_large."""
    assert live.send(otp(attachments=attachments)).code == code


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"html": 5}, "validation_failed"),
        ({"html": "<p>", "subject": "x"}, "multiple_modes"),
        ({"starterTemplate": ...}, "missing_field"),
        (
            {"starterTemplate": ..., "html": "x", "subject": "x", "cc": ["nobody"] * 50},
            "upgrade_required",
        ),
    ],
)
def test_a_preview_key_is_refused_after_shape_and_mode_and_before_counts(
    preview: Api, changes: dict[str, Any], code: str
) -> None:
    """Notes, order of checks: 422, then 400 for modes, then 403 upgrade_required."""
    assert preview.send(otp(**changes)).code == code


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
