"""Authoring saved templates: creating, changing and deleting them."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb.records import template_item
from pillarbox.adapters.dynamodb.templates import DynamoTemplates
from pillarbox.application.templates.authoring import TemplateChanges, TemplateSource, content_of
from pillarbox.domain.templates.draft import LocaleContent, SourceKind
from pillarbox.domain.templates.template import SavedTemplate
from pillarbox.rendering.template_check import Problem
from tests.fakes.builders import NOW
from tests.refusals import faults, refusal
from tests.unit.admin.use_cases import UseCases

MAX_SOURCE = 256 * 1024

SOURCE = TemplateSource(
    name="Receipt",
    subject="Order {{ order.id }}",
    category="billing",
    html="<p>{{ order.total }} {{ note | default('') }}</p>",
)


def test_a_template_has_the_variables_of_its_source(account_id: str, use_cases: UseCases) -> None:
    saved = use_cases.templates.create(account_id, SOURCE)
    assert saved.variables == ("order", "note")
    assert saved.required == ("order.id", "order.total")
    assert saved == use_cases.templates.get(account_id, UUID(saved.template_id))
    assert UUID(saved.template_id).version == 7


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("name", "", "too_short"),
        ("category", "x" * 129, "too_long"),
        ("subject", "a\r\nBcc: b@example.com", "control_character"),
        ("subject", "x" * 999, "too_long"),
        ("subject", "{% if a %}", "not_allowed"),
        ("html", " \n", "too_short"),
        ("html", "{{ a.__class__ }}", "not_allowed"),
        ("html", "x" * (MAX_SOURCE + 1), "too_large"),
        ("html", "é" * (MAX_SOURCE // 2 + 1), "too_large"),
    ],
)
def test_an_invalid_template_is_not_saved(
    account_id: str, use_cases: UseCases, field: str, value: str, code: str
) -> None:
    saved = use_cases.templates.create(account_id, SOURCE)
    assert faults(use_cases.templates.create, account_id, replace(SOURCE, **{field: value})) == [
        (field, code)
    ]
    assert faults(
        use_cases.templates.update,
        account_id,
        UUID(saved.template_id),
        TemplateChanges(**{field: value}),
    ) == [(field, code)]
    assert [*use_cases.template_records.newest_first(account_id)] == [saved]


def test_a_change_keeps_the_other_fields(account_id: str, use_cases: UseCases) -> None:
    saved = use_cases.templates.create(account_id, SOURCE)
    template_id = UUID(saved.template_id)
    assert use_cases.templates.update(account_id, template_id, TemplateChanges()) == saved
    changed = use_cases.templates.update(account_id, template_id, TemplateChanges(html="{{ sum }}"))
    assert (changed.name, changed.subject) == (SOURCE.name, SOURCE.subject)
    assert changed.variables == ("order", "sum")
    assert changed.created_at == saved.created_at
    assert changed.updated_at > saved.updated_at
    assert changed == use_cases.templates.get(account_id, template_id)


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


def test_a_reference_has_a_name(account_id: str, use_cases: UseCases) -> None:
    template_id = UUID(use_cases.templates.create(account_id, SOURCE).template_id)
    for attempt in (use_cases.templates.reference, use_cases.templates.unreference):
        assert faults(attempt, account_id, template_id, "") == [("by", "too_short")]


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


def test_a_template_of_too_large_parts_is_not_compiled(use_cases: UseCases) -> None:
    compiled: list[str] = []

    def compile_source(_: SourceKind, source: str) -> tuple[str, list[Problem]]:
        compiled.append(source)
        return source * 5, []

    publication = replace(use_cases.templates.publication, compile_source=compile_source)
    template = use_cases.templates.create(use_cases.create_account(), SOURCE)
    for size, parts in ((13_000, 0), (12_000, 6)):
        part = LocaleContent(subject="s", source="x" * size)
        locales = {f"a{n}": part for n in range(26)}
        written = replace(content_of(template), source=part.source, locales=locales)
        assert faults(publication.publish, template, written, "ada") == [("html", "too_large")]
        assert len(compiled) == parts
