"""Saved templates with their references, drafts and published versions.

Sources are compressed, because an item has at most 400 KB and a version has source and HTML.
"""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.minutes import count_in_minute
from pillarbox.adapters.dynamodb.records import template_item, template_of, template_source
from pillarbox.adapters.dynamodb.table import (
    NEW,
    TIME,
    ConditionFailed,
    Item,
    Store,
    assigning,
    to_item,
    to_text,
)
from pillarbox.adapters.rows import Column, Row, one_of
from pillarbox.application.templates.ports import DeleteResult
from pillarbox.domain.accounts.account import MAX_KEEP
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.templates.draft import (
    LocaleContent,
    SourceKind,
    TemplateContent,
    TemplateDraft,
    TemplateVersion,
)
from pillarbox.domain.templates.template import SavedTemplate

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

#: In bytes of compressed text: an item has at most 400 KB, with a subject of 998 characters.
_MAX_PACKED: Final = 390_000


_CONTENT: Final = Row(
    TemplateContent,
    *("name", "subject", "category"),
    kind=("kind", one_of(SourceKind)),
    keep=Column("keep", absent=MAX_KEEP),
)
#: What drafts and versions have in common.
_WORK: Final[dict[str, Any]] = {"account_id": "account", "template_id": "id", "at": ("at", TIME)}
_DRAFT: Final = Row(TemplateDraft, "by", "revision", "version", version_revision="clean", **_WORK)
_VERSION: Final = Row(TemplateVersion, "by", "version", **_WORK)


class DynamoTemplateDrafts(Store):
    """Implements `templates.ports.TemplateDrafts`."""

    def get(self, account_id: str, template_id: UUID) -> TemplateDraft | None:
        return self._table.find(keys.template_draft(account_id, template_id), _draft_of)

    def of_account(self, account_id: str) -> Iterable[TemplateDraft]:
        """Read the account's list from its end: ids sort by their time of creation."""
        return map(_draft_of, self._table.query(keys.template_draft(account_id), newest_first=True))

    def count(self, account_id: str) -> int:
        return self._table.count(keys.template_draft(account_id))

    def put(self, draft: TemplateDraft, replaces: int) -> bool:
        return self._table.replace(
            keys.template_draft(draft.account_id, UUID(draft.template_id))
            | to_item(_attributes(_DRAFT, draft, draft.samples)),
            condition="revision = :replaces" if replaces else NEW,
            values={":replaces": replaces} if replaces else None,
        )

    def delete(self, account_id: str, template_id: UUID) -> None:
        self._table.delete(keys.template_draft(account_id, template_id))


class DynamoTemplateVersions(Store):
    """Implements `templates.ports.TemplateVersions`."""

    def get(self, account_id: str, template_id: UUID, version: int) -> TemplateVersion | None:
        return self._table.find(
            keys.template_version(account_id, template_id, version), _version_of
        )

    def newest_first(
        self, account_id: str, template_id: UUID, limit: int, before: int | None = None
    ) -> Sequence[TemplateVersion]:
        first, last = keys.template_versions(account_id, template_id)
        if before is not None:
            last = keys.template_version(account_id, template_id, max(before - 1, 0))
        items = self._table.query(first, last, newest_first=True, page=limit)
        return [_version_of(item) for _, item in zip(range(limit), items, strict=False)]

    def delete(self, account_id: str, template_id: UUID, version: int) -> None:
        self._table.delete(keys.template_version(account_id, template_id, version))

    def delete_all(self, account_id: str, template_id: UUID) -> None:
        items = self._table.query(*keys.template_versions(account_id, template_id))
        places = [to_item({"pk": item["pk"], "sk": item["sk"]}) for item in items]
        if places:
            self._table.write_all(deletes=places)


def version_item(version: TemplateVersion) -> Item:
    return keys.template_version(
        version.account_id, UUID(version.template_id), version.version
    ) | to_item(_attributes(_VERSION, version, version.html))


def _version_of(item: Mapping[str, Any]) -> TemplateVersion:
    content, html = _unpack(item)
    return _VERSION.read(item, content=content, html=html)


def _draft_of(item: Mapping[str, Any]) -> TemplateDraft:
    content, samples = _unpack(item)
    return _DRAFT.read(item, content=content, samples=samples)


def _attributes(
    row: Row[Any], work: TemplateDraft | TemplateVersion, packed_with: object
) -> dict[str, object]:
    """Write a draft or a version; the sources are packed with something else."""
    content = work.content
    locales = {
        name: [part.subject, part.source, part.text] for name, part in content.locales.items()
    }
    text = json.dumps([content.source, packed_with, content.text, locales], ensure_ascii=False)
    packed = zlib.compress(text.encode("utf-8", "surrogatepass"))
    if len(packed) > _MAX_PACKED:
        message = f"must have at most {_MAX_PACKED} bytes when it is compressed, with its HTML"
        raise ValidationFailed(FieldError("html", message, "too_large"))
    return row.write(work) | _CONTENT.write(content) | {"packed": packed}


def _unpack(item: Mapping[str, Any]) -> tuple[TemplateContent, Any]:
    """Return the content of a draft or a version, and what is packed with its sources."""
    source, packed_with, *more = json.loads(zlib.decompress(item["packed"]))
    if "locales" in item:  # an earlier version stored text and locales apart, if there were any
        more = json.loads(zlib.decompress(item["locales"]))
    text, locales = more or (None, {})
    parts = {
        name: LocaleContent(subject=subject, source=source, text=own)
        for name, (subject, source, own) in locales.items()
    }
    return _CONTENT.read(item, source=source, text=text, locales=parts), packed_with


class DynamoTemplates(Store):
    """Implements `templates.ports.TemplateRecords`."""

    def get(self, account_id: str, template_id: UUID) -> SavedTemplate | None:
        return self._table.find(keys.template(account_id, template_id), template_of)

    def newest_first(self, account_id: str) -> Iterable[SavedTemplate]:
        """Read the account's list from its end: ids sort by their time of creation."""
        return map(template_of, self._table.query(keys.template(account_id), newest_first=True))

    def publish(
        self,
        template: SavedTemplate,
        version: TemplateVersion,
        *,
        unless_changed_since: datetime | None,
        draft: TemplateDraft | None = None,
    ) -> bool:
        writes: list[TransactWriteItemTypeDef] = [
            self._table.to_put(version_item(version), condition=NEW),
            self._table.to_put(template_item(template), condition=NEW)
            if unless_changed_since is None
            else self._replace(template, unless_changed_since),
        ]
        if draft is not None:
            writes.append(self._mark_published(draft, version.version))
        return self._table.try_transact(*writes)

    def _replace(
        self, template: SavedTemplate, unless_changed_since: datetime
    ) -> "TransactWriteItemTypeDef":
        """Set everything that an author writes; the references are written separately."""
        expression, values = assigning(template_source(template))
        return self._table.to_update(
            keys.template(template.account_id, UUID(template.template_id)),
            expression,
            condition="#updated = :read",
            values={**values, ":read": to_text(unless_changed_since)},
        )

    def _mark_published(self, draft: TemplateDraft, version: int) -> "TransactWriteItemTypeDef":
        return self._table.to_update(
            keys.template_draft(draft.account_id, UUID(draft.template_id)),
            "SET #version = :version, #clean = :revision",
            condition="#revision = :revision",
            values={":version": version, ":revision": draft.revision},
        )

    def delete(self, account_id: str, template_id: UUID) -> DeleteResult:
        """Delete a template if it has no references at that moment.

        The references are in the same item, so none can be added in between.
        """
        try:
            self._table.delete(
                keys.template(account_id, template_id),
                condition="attribute_exists(pk) AND attribute_not_exists(#references)",
            )
        except ConditionFailed as failure:
            return DeleteResult.REFERENCED if failure.item else DeleteResult.ABSENT
        return DeleteResult.DELETED

    def reference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate | None:
        return self._change_references("ADD", account_id, template_id, by)

    def unreference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate | None:
        """Remove from the set of references. DynamoDB deletes an empty set."""
        return self._change_references("DELETE", account_id, template_id, by)

    def _change_references(
        self, action: str, account_id: str, template_id: UUID, by: str
    ) -> SavedTemplate | None:
        item = self._table.try_update(
            keys.template(account_id, template_id),
            f"{action} #references :by",
            values={":by": {by}},
        )
        return template_of(item) if item else None


class DynamoRenderings(Store):
    """Implements `templates.ports.Renderings`."""

    def count(
        self, account_id: str, kind: str, now: datetime, most: int, *, times: int = 1
    ) -> bool:
        return count_in_minute(self._table, keys.quota(account_id), kind, now, most, times=times)
