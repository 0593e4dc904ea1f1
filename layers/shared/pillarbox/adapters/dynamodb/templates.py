"""Saved templates, and what refers to them."""

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
    """Fulfils `administration.ports.TemplateRecords`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, template: SavedTemplate) -> None:
        """Put a template; its id is random, so there is none to be overwritten."""
        self._table.put(template_item(template))

    def get(self, account_id: str, template_id: UUID) -> SavedTemplate | None:
        """Read one template, consistently."""
        item = self._table.get(keys.template(account_id, template_id))
        return template_of(item) if item else None

    def newest_first(self, account_id: str) -> Iterable[SavedTemplate]:
        """Read the account's list from its end: ids sort by the time they were made."""
        found = self._table.query(keys.template(account_id), newest_first=True)
        return map(template_of, found)

    def replace(self, template: SavedTemplate, unless_changed_since: datetime) -> bool:
        """Set all that an author writes; the references have writes of their own."""
        values = template_source(template)
        try:
            self._table.update(
                keys.template(template.account_id, UUID(template.template_id)),
                "SET " + ", ".join(f"#{name} = :{name}" for name in values),
                condition="#updated = :seen",
                names={f"#{name}": name for name in values},
                values={f":{name}": value for name, value in values.items()}
                | {":seen": to_text(unless_changed_since)},
            )
        except ConditionFailed:
            return False
        return True

    def delete(self, account_id: str, template_id: UUID) -> DeleteResult:
        """Delete a template that has no references in that moment.

        References live in the same item, so none can come between.
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
        return self._refer("ADD", account_id, template_id, by)

    def unreference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate | None:
        """Take out of the set of references, which goes with its last member."""
        return self._refer("DELETE", account_id, template_id, by)

    def _refer(
        self, verb: str, account_id: str, template_id: UUID, by: str
    ) -> SavedTemplate | None:
        try:
            item = self._table.update(
                keys.template(account_id, template_id),
                f"{verb} #references :by",
                condition="attribute_exists(pk)",
                names={"#references": "references"},
                values={":by": {by}},
            )
        except ConditionFailed:
            return None
        return template_of(item)
