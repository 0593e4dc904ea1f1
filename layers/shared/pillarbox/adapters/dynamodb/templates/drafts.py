"""Drafts of templates, and the versions that were published.

Sources are compressed, because an item has at most 400 KB and a version has source and HTML.
"""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import Item, from_text, to_item, to_text
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.templates.draft import (
    SourceKind,
    TemplateContent,
    TemplateDraft,
    TemplateVersion,
)

#: In bytes of compressed text: an item has at most 400 KB, with a subject of 998 characters.
_MAX_PACKED: Final = 390_000


class DynamoTemplateDrafts:
    """Implements `templates.ports.TemplateDrafts`."""

    def __init__(self, table: Table) -> None:
        self._table = table

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
        condition = "revision = :replaces" if replaces else "attribute_not_exists(pk)"
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


class DynamoTemplateVersions:
    """Implements `templates.ports.TemplateVersions`."""

    def __init__(self, table: Table) -> None:
        self._table = table

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
    ) | to_item(_attributes(version, version.html) | {"version": version.version})


def _version_of(item: Mapping[str, Any]) -> TemplateVersion:
    source, html = _unpack(item["packed"])
    return TemplateVersion(
        account_id=item["account"],
        template_id=item["id"],
        version=item["version"],
        content=_content_of(item, source),
        html=html,
        by=item["by"],
        at=from_text(item["at"]),
    )


def _draft_item(draft: TemplateDraft) -> Item:
    return keys.template_draft(draft.account_id, UUID(draft.template_id)) | to_item(
        _attributes(draft, draft.samples)
        | {
            "revision": draft.revision,
            "version": draft.version,
            "clean": draft.version_revision,
        }
    )


def _draft_of(item: Mapping[str, Any]) -> TemplateDraft:
    source, samples = _unpack(item["packed"])
    return TemplateDraft(
        account_id=item["account"],
        template_id=item["id"],
        content=_content_of(item, source),
        samples=samples,
        revision=item["revision"],
        by=item["by"],
        at=from_text(item["at"]),
        version=item["version"],
        version_revision=item["clean"],
    )


def _attributes(work: TemplateDraft | TemplateVersion, packed_with: object) -> dict[str, object]:
    """Write what drafts and versions have in common; the source is packed with something else."""
    content = work.content
    return {
        "account": work.account_id,
        "id": work.template_id,
        "name": content.name,
        "subject": content.subject,
        "category": content.category,
        "kind": content.kind.value,
        "packed": _pack([content.source, packed_with]),
        "by": work.by,
        "at": to_text(work.at),
    }


def _content_of(item: Mapping[str, Any], source: str) -> TemplateContent:
    return TemplateContent(
        name=item["name"],
        subject=item["subject"],
        category=item["category"],
        kind=SourceKind(item["kind"]),
        source=source,
    )


def _pack(values: Sequence[object]) -> bytes:
    packed = zlib.compress(json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    if len(packed) > _MAX_PACKED:
        message = f"must have at most {_MAX_PACKED} bytes when it is compressed, with its HTML"
        raise ValidationFailed(FieldError("html", message, "too_large"))
    return packed


def _unpack(packed: bytes) -> Any:  # noqa: ANN401  any JSON
    return json.loads(zlib.decompress(packed))
