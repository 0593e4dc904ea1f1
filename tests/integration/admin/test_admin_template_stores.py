"""The stores of templates, of their drafts and of their versions."""

from dataclasses import dataclass, replace
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.dynamodb.templates import (
    DynamoTemplateDrafts,
    DynamoTemplates,
    DynamoTemplateVersions,
)
from pillarbox.application.templates.ports import DeleteResult
from tests.fakes.builders import ACCOUNT, NOW, OTHER_ACCOUNT
from tests.integration.admin.records import LATER, add, draft, id_of, template, version_of


@dataclass(frozen=True, slots=True)
class TemplateStores:
    """The stores of templates, which one transaction writes."""

    records: DynamoTemplates
    drafts: DynamoTemplateDrafts
    versions: DynamoTemplateVersions


@pytest.fixture
def stores(table: Table) -> TemplateStores:
    return TemplateStores(
        DynamoTemplates(table), DynamoTemplateDrafts(table), DynamoTemplateVersions(table)
    )


def test_a_version_is_published_once(stores: TemplateStores) -> None:
    saved = template()
    add(stores.records, saved)
    same = replace(saved, name="Second", updated_at=LATER)
    assert not stores.records.publish(same, version_of(same), unless_changed_since=NOW)
    assert not stores.records.publish(same, version_of(same), unless_changed_since=None)
    assert stores.records.get(ACCOUNT, id_of(saved)) == saved


def test_a_change_needs_the_current_version(stores: TemplateStores) -> None:
    saved = template()
    add(stores.records, saved)
    first = replace(saved, name="First", variables=(), updated_at=LATER, version=2)
    second = replace(saved, name="Second", version=3)
    assert stores.records.publish(first, version_of(first), unless_changed_since=NOW)
    assert not stores.records.publish(second, version_of(second), unless_changed_since=NOW)
    assert stores.records.get(ACCOUNT, id_of(saved)) == first


def test_a_change_creates_no_template(stores: TemplateStores) -> None:
    saved = template()
    add(stores.records, saved)
    assert stores.records.delete(ACCOUNT, id_of(saved)) is DeleteResult.DELETED
    later = replace(saved, version=2)
    assert not stores.records.publish(later, version_of(later), unless_changed_since=NOW)
    assert stores.records.reference(ACCOUNT, id_of(saved), "campaign-1") is None
    assert stores.records.unreference(ACCOUNT, id_of(saved), "campaign-1") is None
    assert stores.records.delete(ACCOUNT, id_of(saved)) is DeleteResult.ABSENT
    assert stores.records.get(ACCOUNT, id_of(saved)) is None


def test_a_draft_replaces_the_revision_that_it_names(stores: TemplateStores) -> None:
    first = draft()
    second = replace(first, revision=2, samples={"ada": {"name": "Ada", "lines": [1, None]}})
    assert not stores.drafts.put(second, replaces=1)
    assert stores.drafts.put(first, replaces=0)
    assert stores.drafts.get(ACCOUNT, UUID(first.template_id)) == first
    assert not stores.drafts.put(second, replaces=0)
    assert stores.drafts.put(second, replaces=1)
    assert not stores.drafts.put(replace(second, by="bob@shop.example"), replaces=1)
    assert stores.drafts.get(ACCOUNT, UUID(first.template_id)) == second
    assert stores.drafts.get(OTHER_ACCOUNT, UUID(first.template_id)) is None


def test_a_repeated_put_of_a_draft_succeeds(stores: TemplateStores) -> None:
    first = draft()
    assert stores.drafts.put(first, replaces=0)
    assert stores.drafts.put(first, replaces=0)


def test_a_publication_marks_its_draft(stores: TemplateStores) -> None:
    first = draft()
    saved = replace(template(), template_id=first.template_id)
    assert stores.drafts.put(first, replaces=0)
    assert stores.records.publish(saved, version_of(saved), unless_changed_since=None, draft=first)
    marked = replace(first, version=1, version_revision=1)
    assert stores.drafts.get(ACCOUNT, id_of(saved)) == marked
    assert not marked.changed
    assert stores.versions.get(ACCOUNT, id_of(saved), 1) == version_of(saved)


def test_a_changed_draft_is_not_published(stores: TemplateStores) -> None:
    first = draft()
    saved = replace(template(), template_id=first.template_id)
    assert stores.drafts.put(first, replaces=0)
    other = replace(first, revision=2)
    assert not stores.records.publish(
        saved, version_of(saved), unless_changed_since=None, draft=other
    )
    assert stores.records.get(ACCOUNT, id_of(saved)) is None
    assert stores.versions.get(ACCOUNT, id_of(saved), 1) is None
