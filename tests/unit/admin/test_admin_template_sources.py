"""Templates made from starters, and how a template looks with values."""

from uuid import UUID

import pytest

from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.application.templates.authoring import TemplateSource
from pillarbox.domain.accounts.account import Brand
from pillarbox.domain.errors import Json
from pillarbox.rendering.engine import Branding, render_starter
from pillarbox.rendering.starters import SLUGS, find_starter
from tests.refusals import faults, refusal
from tests.unit.admin.use_cases import UseCases

LOGO = "https://acme.example/logo.png"
#: Values for which the general words of a copy are those of the starter.
GENERAL: dict[str, Json] = {"expiry_minutes": 25, "days_left": 3, "app_name": "Acme"}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_copy_of_a_starter_looks_like_it(account_id: str, use_cases: UseCases, slug: str) -> None:
    brand = Brand(name="Acme", logo_url=LOGO, accent="#0a7d5a", company_address="1 Quay Street")
    use_cases.accounts.update(account_id, AccountChanges(brand=brand))
    source = use_cases.templates.starter_source(account_id, slug)
    saved = use_cases.templates.create(account_id, source)
    starter = find_starter(slug)
    assert starter
    values = {variable.name: variable.sample for variable in starter.variables} | GENERAL
    branding = Branding("Acme", LOGO, attribution=False, accent="#0a7d5a")
    subject, html = use_cases.templates.render(account_id, UUID(saved.template_id), values)
    assert html == render_starter(slug, values | {"company_address": "1 Quay Street"}, branding)
    assert "{{" not in subject + html
    assert set(saved.variables) == {v.name for v in starter.variables} - {"app_name"}
    without = {v.name for v in starter.variables if v.name in {"name", "ip", "expiry_minutes"}}
    assert not without & set(saved.required)


def test_a_copy_has_the_name_of_an_account_without_a_brand(use_cases: UseCases) -> None:
    source = use_cases.templates.starter_source(use_cases.create_account(), "welcome")
    assert (source.name, source.subject) == (
        "Welcome email with a three-step checklist",
        "Welcome to Shop",
    )


def test_an_unknown_starter_is_not_copied(use_cases: UseCases) -> None:
    refused = refusal(use_cases.templates.starter_source, use_cases.create_account(), "opt")
    assert refused.code == "template_not_found"
    assert all(slug in refused.message for slug in SLUGS)


def test_a_template_is_rendered_with_values_or_their_names(
    account_id: str, use_cases: UseCases
) -> None:
    use_cases.accounts.update(account_id, AccountChanges(brand=Brand(name="Acme")))
    html = "<p>{{ brandName }}: {{ order.total }}</p>"
    source = TemplateSource(name="R", subject="Order {{ order.id }}", category="c", html=html)
    template_id = UUID(use_cases.templates.create(account_id, source).template_id)
    render = use_cases.templates.render
    assert render(account_id, template_id, None) == (
        "Order [order.id]",
        "<p>Acme: [order.total]</p>",
    )
    order: dict[str, Json] = {"id": 7, "total": "<9>"}
    assert render(account_id, template_id, {"order": order}) == (
        "Order 7",
        "<p>Acme: &lt;9&gt;</p>",
    )
    assert faults(render, account_id, template_id, {"order": {"id": 7}}) == [
        ("order.total", "missing_variable")
    ]
