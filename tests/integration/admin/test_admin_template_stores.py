"""The stores of templates, of their drafts and of their versions."""

import json
import zlib
from dataclasses import dataclass, replace
from uuid import UUID

import pytest

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import Table, assigning
from pillarbox.adapters.dynamodb.templates import (
    DynamoTemplateDrafts,
    DynamoTemplates,
    DynamoTemplateVersions,
)
from pillarbox.domain.templates.draft import LocaleContent
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


def test_a_version_replaces_what_its_author_has_read(stores: TemplateStores) -> None:
    saved = template()
    add(stores.records, saved)
    second = replace(saved, version=2, updated_at=LATER)
    assert stores.records.publish(second, version_of(second), unless_changed_since=NOW)
    late = replace(saved, version=3, updated_at=LATER)
    assert not stores.records.publish(late, version_of(late), unless_changed_since=NOW)
    assert stores.records.get(ACCOUNT, id_of(saved)) == second


def test_a_draft_is_replaced_once_and_a_repeated_put_succeeds(stores: TemplateStores) -> None:
    first = draft()
    second, late = (replace(first, revision=2, by=f"{name}@shop.example") for name in ("b", "c"))
    for one, replaces, is_put in ((first, 0, True), (second, 1, True), (late, 1, False)):
        assert stores.drafts.put(one, replaces) is is_put
        assert stores.drafts.put(one, replaces) is is_put


@pytest.mark.parametrize("text", [None, "Hello"])
def test_a_draft_with_text_and_locales_of_its_own_is_read(
    stores: TemplateStores, table: Table, text: str | None
) -> None:
    """An earlier version wrote these apart, and only if there were any."""
    first, locales = draft(), {"de": ["Hallo", "<mjml></mjml>", None]}
    template_id = UUID(first.template_id)
    assert stores.drafts.put(first, replaces=0)
    packed = zlib.compress(json.dumps([first.content.source, {}]).encode())
    apart = text and zlib.compress(json.dumps([text, locales]).encode())
    change, values = assigning({"packed": packed, "locales": apart})
    table.update(keys.template_draft(ACCOUNT, template_id), change, values=values)
    german = {"de": LocaleContent(subject="Hallo", source="<mjml></mjml>", text=None)}
    content = replace(first.content, text=text, locales=german if text else {})
    assert stores.drafts.get(ACCOUNT, template_id) == replace(first, content=content)


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
