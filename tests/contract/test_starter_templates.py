"""Starter templates: contract sections 2.6, 4.6 and 4.7."""

from typing import Any

import pytest

from tests.contract.bodies import otp
from tests.contract.client import Api
from tests.contract.service import Service

#: The table of contract 2.6.
STARTERS = {
    "otp": ["otp_code", "expiry_minutes", "app_name"],
    "magic_link": ["login_url", "expiry_minutes"],
    "email_verify": ["verify_url"],
    "welcome": ["name", "app_name"],
    "password_reset": ["reset_url", "expiry_minutes"],
    "password_changed": ["name", "support_email"],
    "team_invite": ["inviter_name", "team_name", "accept_url"],
    "trial_ending": ["days_left", "upgrade_url"],
    "payment_receipt": ["amount", "currency", "invoice_id"],
    "security_alert": ["event", "ip", "at"],
}
URL = "https://app.example/x?token=1"
#: The variables that each template requires (notes).
REQUIRED: dict[str, dict[str, Any]] = {
    "otp": {"otp_code": "482913"},
    "magic_link": {"login_url": URL},
    "email_verify": {"verify_url": URL},
    "welcome": {},
    "password_reset": {"reset_url": URL},
    "password_changed": {},
    "team_invite": {"inviter_name": "Grace", "team_name": "North", "accept_url": URL},
    "trial_ending": {"days_left": 3, "upgrade_url": URL},
    "payment_receipt": {"amount": "49.00", "currency": "EUR", "invoice_id": "INV-1"},
    "security_alert": {},
}


def test_the_list_has_the_ten_templates(live: Api) -> None:
    """2.6, 4.6: the list has ten items, each with slug, name, description and variables."""
    listed = live.starters()
    assert listed.status == 200
    assert {item["slug"]: item["variables"] for item in listed.json} == STARTERS
    for item in listed.json:
        assert set(item) == {"slug", "name", "description", "variables"}
        assert item["name"]
        assert item["description"]


@pytest.mark.parametrize(
    ("slug", "name"),
    [
        ("otp", "One-time passcode (six-digit code, short expiry)"),
        ("magic_link", "Magic sign-in link (single use)"),
        ("email_verify", "Email verification"),
        ("welcome", "Welcome email with a three-step checklist"),
        ("password_reset", "Password reset link"),
        ("password_changed", "Password changed confirmation"),
        ("team_invite", "Team invitation"),
        ("trial_ending", "Trial ending reminder"),
        ("payment_receipt", "Payment receipt"),
        ("security_alert", "Security alert"),
    ],
)
def test_each_template_has_its_name(live: Api, slug: str, name: str) -> None:
    """2.6: each starter template has the name of the contract."""
    (item,) = [item for item in live.starters().json if item["slug"] == slug]
    assert item["name"] == name


def test_both_types_of_key_can_list_and_preview(free: Api, preview: Api) -> None:
    """4.6, 5: preview keys and live keys of one plan get the same lists and previews."""
    assert free.starters().text == preview.starters().text
    assert free.preview("otp").text == preview.preview("otp").text


@pytest.mark.parametrize("slug", STARTERS)
@pytest.mark.parametrize("body", [None, {}, {"variables": {}}, {"variables": None}])
def test_a_preview_renders_with_samples(live: Api, slug: str, body: object) -> None:
    """4.7: a preview has slug, subject, html and sampleVariables; the body is optional."""
    shown = live.preview(slug, body)
    assert shown.status == 200
    assert set(shown.json) == {"slug", "subject", "html", "sampleVariables"}
    assert shown.json["slug"] == slug
    assert list(shown.json["sampleVariables"]) == STARTERS[slug]
    assert shown.json["subject"]
    assert "<html" in shown.json["html"]


def test_supplied_variables_are_merged_over_the_samples(live: Api) -> None:
    """4.7: sampleVariables are the merged values that the preview is rendered with."""
    shown = live.preview("otp", {"variables": {"otp_code": "555001", "other": "x"}}).json
    assert shown["sampleVariables"]["otp_code"] == "555001"
    assert shown["sampleVariables"]["app_name"]
    assert "555001" in shown["html"]


def test_a_preview_shows_plan_and_brand(free: Api, live: Api) -> None:
    """Notes: a preview has the footer of the plan, and the given brandName and logoUrl."""
    assert "Sent with Pillarbox" in free.preview("otp").json["html"]
    given = {"brandName": "Acme", "logoUrl": "https://acme.example/logo.png"}
    html = live.preview("otp", given).json["html"]
    assert "Sent with Pillarbox" not in html
    assert 'src="https://acme.example/logo.png"' in html
    assert 'alt="Acme"' in html
    assert live.preview("otp", {"logoUrl": "javascript:x"}).errors == {"logoUrl": "invalid_url"}


def test_a_preview_sends_nothing(service: Service) -> None:
    """4.7: a preview does not send an email."""
    account = service.account()
    Api(service.key(account)).preview("otp")
    assert service.messages(account) == []


@pytest.mark.parametrize("slug", ["nope", "OTP", "otp%20", "otp%22", "__class__", "%2e%2e%2fotp"])
def test_an_unknown_slug_is_not_found(live: Api, slug: str) -> None:
    """4.7, 7: an unknown starter slug is 404 template_not_found."""
    response = live.preview(slug)
    assert (response.status, response.code) == (404, "template_not_found")
    assert response.error["type"] == "not_found"


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ([], {"": "wrong_type"}),
        ({"variables": []}, {"variables": "wrong_type"}),
        ({"variabels": {}}, {"variabels": "unknown_field"}),
        ({"variables": {"otp_code": ["1"]}}, {"variables.otp_code": "invalid_type"}),
    ],
)
def test_a_malformed_preview_is_refused(live: Api, body: object, errors: dict[str, str]) -> None:
    """4.7, 7: a malformed body is 422 with field paths."""
    assert live.preview("otp", body).errors == errors


@pytest.mark.parametrize("slug", STARTERS)
def test_each_template_can_be_sent_with_its_required_variables(service: Service, slug: str) -> None:
    """1.2, notes: the other variables have defaults."""
    response = service.live().send(otp(starterTemplate=slug, variables=REQUIRED[slug]))
    assert response.status == 200


@pytest.mark.parametrize("slug", [slug for slug, needed in REQUIRED.items() if needed])
def test_missing_required_variables_are_named(live: Api, slug: str) -> None:
    """Notes: missing required variables are 422, which names all of them."""
    response = live.send(otp(starterTemplate=slug, variables=...))
    assert response.errors == {f"variables.{name}": "missing_variable" for name in REQUIRED[slug]}


@pytest.mark.parametrize("attributed", [True, False])
def test_only_free_plans_have_the_footer(
    service: Service, free: Api, live: Api, *, attributed: bool
) -> None:
    """2.6: each email has an attribution footer, except on paid plans."""
    service.deliver()
    service.ses.mails.clear()
    (free if attributed else live).send(otp())
    service.deliver()
    (mail,) = service.ses.mails
    assert (b"Sent with Pillarbox" in mail["raw"]) is attributed
