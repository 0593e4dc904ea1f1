"""The stores of templates, of their drafts and of their versions."""

from dataclasses import dataclass, replace

import pytest

from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.dynamodb.templates import (
    DynamoTemplateDrafts,
    DynamoTemplates,
    DynamoTemplateVersions,
)
from tests.fakes.builders import ACCOUNT, NOW
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


def test_a_repeated_put_of_a_draft_succeeds(stores: TemplateStores) -> None:
    first = draft()
    assert stores.drafts.put(first, replaces=0)
    assert stores.drafts.put(first, replaces=0)


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
