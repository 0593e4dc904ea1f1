"""The ports of the use cases for saved templates."""

from collections.abc import Iterable
from datetime import datetime
from enum import Enum, auto
from typing import Protocol
from uuid import UUID

from pillarbox.domain.template import SavedTemplate


class DeleteResult(Enum):
    """The result of deleting a saved template."""

    DELETED = auto()
    #: There is no such template.
    ABSENT = auto()
    #: The template is in use, so it was not deleted.
    REFERENCED = auto()


class TemplateRecords(Protocol):
    """Saved templates and the names of what uses them."""

    def add(self, template: SavedTemplate) -> None:
        """Store a new template."""
        ...

    def get(self, account_id: str, template_id: UUID) -> SavedTemplate | None:
        """Read one template with strong consistency."""
        ...

    def newest_first(self, account_id: str) -> Iterable[SavedTemplate]:
        """Read an account's templates, including internal copies."""
        ...

    def replace(self, template: SavedTemplate, unless_changed_since: datetime) -> bool:
        """Write a changed template; its references stay unchanged.

        Return False and write nothing if the template does not exist or its `updated_at`
        is no longer `unless_changed_since`.
        """
        ...

    def delete(self, account_id: str, template_id: UUID) -> DeleteResult:
        """Delete a template in one atomic step, unless something uses it."""
        ...

    def reference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate | None:
        """Record that `by` uses the template; return None if there is no such template."""
        ...

    def unreference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate | None:
        """Remove the reference of `by`, if any; return None if there is no such template."""
        ...
