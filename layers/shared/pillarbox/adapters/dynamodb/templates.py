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
        """Read one draft with strong consistency."""
        item = self._table.get(keys.template_draft(account_id, template_id))
        return _draft_of(item) if item else None

    def of_account(self, account_id: str) -> Iterable[TemplateDraft]:
        """Read the account's list from its end: ids sort by their time of creation."""
        return map(_draft_of, self._table.query(keys.template_draft(account_id), newest_first=True))

    def count(self, account_id: str) -> int:
        """Count the items of the account's list."""
        return self._table.count(keys.template_draft(account_id))

    def put(self, draft: TemplateDraft, replaces: int) -> bool:
        """Put a draft under the condition of the revision."""
        condition = "revision = :replaces" if replaces else NEW
        try:
            self._table.put(
                _draft_item(draft),
                condition=condition,
                values={":replaces": replaces} if replaces else None,
            )
        except ConditionFailed as failure:
            # The response to the first try may have been lost.
            return failure.item is not None and _draft_of(failure.item) == draft
        return True

    def delete(self, account_id: str, template_id: UUID) -> None:
        """Delete one item."""
        self._table.delete(keys.template_draft(account_id, template_id))


class DynamoTemplateVersions(Store):
    """Implements `templates.ports.TemplateVersions`."""

    def get(self, account_id: str, template_id: UUID, version: int) -> TemplateVersion | None:
        """Read one version."""
        item = self._table.get(keys.template_version(account_id, template_id, version))
        return _version_of(item) if item else None

    def newest_first(
        self, account_id: str, template_id: UUID, limit: int, before: int | None = None
    ) -> Sequence[TemplateVersion]:
        """Read the template's items from their end."""
        first, last = keys.template_versions(account_id, template_id)
        if before is not None:
            last = keys.template_version(account_id, template_id, max(before - 1, 0))
        items = self._table.query(first, last, newest_first=True, page=limit)
        return [_version_of(item) for _, item in zip(range(limit), items, strict=False)]

    def delete(self, account_id: str, template_id: UUID, version: int) -> None:
        """Delete one item."""
        self._table.delete(keys.template_version(account_id, template_id, version))

    def delete_all(self, account_id: str, template_id: UUID) -> None:
        """Delete the template's items."""
        items = self._table.query(*keys.template_versions(account_id, template_id))
        places = [to_item({"pk": item["pk"], "sk": item["sk"]}) for item in items]
        if places:
            self._table.write_all(deletes=places)


def version_item(version: TemplateVersion) -> Item:
    """Write a version."""
    return keys.template_version(
        version.account_id, UUID(version.template_id), version.version
    ) | to_item(_attributes(_VERSION, version, version.html))


def _version_of(item: Mapping[str, Any]) -> TemplateVersion:
    source, html = _unpack(item["packed"])
    content = _CONTENT.read(item, source=source, **_more(item))
    return _VERSION.read(item, content=content, html=html)


def _draft_item(draft: TemplateDraft) -> Item:
    return keys.template_draft(draft.account_id, UUID(draft.template_id)) | to_item(
        _attributes(_DRAFT, draft, draft.samples)
    )


def _draft_of(item: Mapping[str, Any]) -> TemplateDraft:
    source, samples = _unpack(item["packed"])
    content = _CONTENT.read(item, source=source, **_more(item))
    return _DRAFT.read(item, content=content, samples=samples)


def _attributes(
    row: Row[Any], work: TemplateDraft | TemplateVersion, packed_with: object
) -> dict[str, object]:
    """Write a draft or a version; the source is packed with something else.

    Text part and locales have an attribute of their own, which a release without them ignores.
    """
    content = work.content
    packed = _pack([content.source, packed_with])
    more: dict[str, bytes] = {}
    if content.text is not None or content.locales:
        locales = {
            name: [part.subject, part.source, part.text] for name, part in content.locales.items()
        }
        more["locales"] = _pack([content.text, locales], used=len(packed))
    return row.write(work) | _CONTENT.write(content) | {"packed": packed} | more


def _more(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return text part and locales of a content."""
    if "locales" not in item:
        return {}
    text, locales = _unpack(item["locales"])
    parts = {
        name: LocaleContent(subject=subject, source=source, text=own)
        for name, (subject, source, own) in locales.items()
    }
    return {"text": text, "locales": parts}


def _pack(values: Sequence[object], used: int = 0) -> bytes:
    packed = zlib.compress(json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    if used + len(packed) > _MAX_PACKED:
        message = f"must have at most {_MAX_PACKED} bytes when it is compressed, with its HTML"
        raise ValidationFailed(FieldError("html", message, "too_large"))
    return packed


def _unpack(packed: bytes) -> Any:  # noqa: ANN401  any JSON
    return json.loads(zlib.decompress(packed))


class DynamoTemplates(Store):
    """Implements `templates.ports.TemplateRecords`."""

    def get(self, account_id: str, template_id: UUID) -> SavedTemplate | None:
        """Read one template with strong consistency."""
        item = self._table.get(keys.template(account_id, template_id))
        return template_of(item) if item else None

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
        """Put the version, write the template, and mark the draft, in one transaction."""
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
        """Add to the set of references."""
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
        """Add to the count of the minute, or begin the count of a later minute."""
        return count_in_minute(self._table, keys.quota(account_id), kind, now, most, times=times)
