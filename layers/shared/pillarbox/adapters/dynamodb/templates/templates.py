"""Saved templates with the references to them."""

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import assigning, to_text
from pillarbox.adapters.dynamodb.records import template_item, template_of, template_source
from pillarbox.adapters.dynamodb.store import Store
from pillarbox.adapters.dynamodb.table import NEW, ConditionFailed
from pillarbox.adapters.dynamodb.templates.drafts import version_item
from pillarbox.application.templates.ports import DeleteResult
from pillarbox.domain.templates.draft import TemplateDraft, TemplateVersion
from pillarbox.domain.templates.template import SavedTemplate

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef


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
