"""Authoring saved templates: creating, changing and deleting them."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb.records import template_item
from pillarbox.adapters.dynamodb.templates import DynamoTemplates
from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.application.templates.authoring import TemplateChanges, TemplateSource
from pillarbox.domain.accounts.account import Brand
from pillarbox.domain.errors import Json
from pillarbox.domain.templates.draft import SourceKind
from pillarbox.domain.templates.template import SavedTemplate
from pillarbox.rendering.sandbox import Branding, render_starter
from pillarbox.rendering.starters import SLUGS, find_starter
from tests.fakes.builders import NOW
from tests.refusals import faults, refusal
from tests.unit.admin.use_cases import UseCases

MAX_SOURCE = 256 * 1024


@pytest.fixture
def use_cases() -> UseCases:
    return UseCases()


@pytest.fixture
def account_id(use_cases: UseCases) -> str:
    return use_cases.create_account()


SOURCE = TemplateSource(
    name="Receipt",
    subject="Order {{ order.id }}",
    category="billing",
    html="<p>{{ order.total }} {{ note | default('') }}</p>",
)


def test_every_change_makes_a_later_version(account_id: str, use_cases: UseCases) -> None:
    saved = use_cases.templates.create(account_id, SOURCE)
    ahead = replace(saved, updated_at=NOW + timedelta(days=1))
    use_cases.table.put(template_item(ahead))
    changed = use_cases.templates.update(
        account_id, UUID(saved.template_id), TemplateChanges(name="Bill")
    )
    assert changed.updated_at == ahead.updated_at + timedelta(milliseconds=1)


def test_two_changes_at_the_same_time(account_id: str, use_cases: UseCases) -> None:
    template_id = UUID(use_cases.templates.create(account_id, SOURCE).template_id)

    class ConcurrentlyChanged(DynamoTemplates):
        def get(self, account_id: str, template_id: UUID) -> SavedTemplate | None:
            template = super().get(account_id, template_id)
            use_cases.templates.update(account_id, template_id, TemplateChanges(name="Other"))
            return template

    authoring = replace(use_cases.templates, records=ConcurrentlyChanged(use_cases.table))
    refused = refusal(authoring.update, account_id, template_id, TemplateChanges(name="Bill"))
    assert refused.code == "service_unavailable"
    assert use_cases.templates.get(account_id, template_id).name == "Other"


def test_the_last_versions_of_a_template_are_kept(
    use_cases: UseCases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pillarbox.application.templates.authoring.MAX_VERSIONS", 3)
    account_id, versions = use_cases.create_account(), use_cases.templates.versions
    first, other = (use_cases.templates.create(account_id, SOURCE) for _ in range(2))
    template_id = UUID(first.template_id)
    for number in range(2, 6):
        use_cases.templates.update(account_id, template_id, TemplateChanges(html=f"v{number}"))
    kept = [one.version for one in versions.newest_first(account_id, template_id, 9)]
    assert kept == [5, 4, 3]
    assert versions.get(account_id, UUID(other.template_id), 1)


@pytest.mark.parametrize("kind", SourceKind)
def test_a_source_of_the_largest_size_is_published(
    account_id: str, use_cases: UseCases, kind: SourceKind
) -> None:
    begin, end = ("<mjml><mj-body>", "</mj-body></mjml>") if kind is SourceKind.MJML else ("", "")
    largest = begin + end.rjust(MAX_SOURCE - len(begin))
    large = replace(SOURCE, subject="S", html=largest)
    if kind is SourceKind.HTML:
        large = replace(large, html="x" * MAX_SOURCE)
    assert use_cases.templates.create(account_id, large, kind=kind)
    assert faults(
        use_cases.templates.create, account_id, replace(large, html=f"{large.html} "), kind=kind
    ) == [("html", "too_large")]


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
