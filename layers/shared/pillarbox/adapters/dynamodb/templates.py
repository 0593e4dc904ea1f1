"""Saved templates with the references to them."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import to_text
from pillarbox.adapters.dynamodb.records import template_item, template_of, template_source
from pillarbox.adapters.dynamodb.table import ConditionFailed, Table
from pillarbox.application.templates.ports import DeleteResult
from pillarbox.domain.template import SavedTemplate


class DynamoTemplates:
    """Implements `templates.ports.TemplateRecords`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, template: SavedTemplate) -> None:
        """Put a template. Its id is random, so it overwrites no other template."""
        self._table.put(template_item(template))

    def get(self, account_id: str, template_id: UUID) -> SavedTemplate | None:
        """Read one template with strong consistency."""
        item = self._table.get(keys.template(account_id, template_id))
        return template_of(item) if item else None

    def newest_first(self, account_id: str) -> Iterable[SavedTemplate]:
        """Read the account's list from its end: ids sort by their time of creation."""
        return map(template_of, self._table.query(keys.template(account_id), newest_first=True))

    def replace(self, template: SavedTemplate, unless_changed_since: datetime) -> bool:
        """Set everything that an author writes; the references are written separately."""
        values = template_source(template)
        try:
            self._table.update(
                keys.template(template.account_id, UUID(template.template_id)),
                "SET " + ", ".join(f"#{name} = :{name}" for name in values),
                condition="#updated = :read",
                names={f"#{name}": name for name in values},
                values={f":{name}": value for name, value in values.items()}
                | {":read": to_text(unless_changed_since)},
            )
        except ConditionFailed:
            return False
        return True

    def delete(self, account_id: str, template_id: UUID) -> DeleteResult:
        """Delete a template if it has no references at that moment.

        The references are in the same item, so none can be added in between.
        """
        try:
            self._table.delete(
                keys.template(account_id, template_id),
                condition="attribute_exists(pk) AND attribute_not_exists(#references)",
                names={"#references": "references"},
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
        try:
            item = self._table.update(
                keys.template(account_id, template_id),
                f"{action} #references :by",
                condition="attribute_exists(pk)",
                names={"#references": "references"},
                values={":by": {by}},
            )
        except ConditionFailed:
            return None
        return template_of(item)
