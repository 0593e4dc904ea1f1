"""Drafts of templates, and the versions that were published.

Sources are compressed, because an item has at most 400 KB and a version has source and HTML.
"""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import TIME, Item, to_item
from pillarbox.adapters.dynamodb.store import Store
from pillarbox.adapters.dynamodb.table import NEW, ConditionFailed
from pillarbox.adapters.rows import Column, Row, one_of
from pillarbox.domain.accounts.limits import MAX_KEEP
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.templates.draft import (
    LocaleContent,
    SourceKind,
    TemplateContent,
    TemplateDraft,
    TemplateVersion,
)

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
    """Write a version.

    Raises:
        ValidationFailed: on `html`, if source and HTML do not fit into an item.
    """
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
