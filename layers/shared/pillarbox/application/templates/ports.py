"""What the use cases for saved templates need from the outside world, as Protocols."""

from collections.abc import Iterable
from datetime import datetime
from enum import Enum, auto
from typing import Protocol
from uuid import UUID

from pillarbox.domain.template import SavedTemplate


class Deletion(Enum):
    """What became of the wish to delete a saved template."""

    DELETED = auto()
    ABSENT = auto()
    REFERENCED = auto()


class TemplateRecords(Protocol):
    """Saved templates with what refers to them."""

    def add(self, template: SavedTemplate) -> None:
        """Keep a new template."""
        ...

    def get(self, account_id: str, template_id: UUID) -> SavedTemplate | None:
        """Read one template, seeing every write that was answered."""
        ...

    def newest_first(self, account_id: str) -> Iterable[SavedTemplate]:
        """Read an account's templates, the internal ones too."""
        ...

    def replace(self, template: SavedTemplate, unless_changed_since: datetime) -> bool:
        """Write a changed template, whose references stay as they are.

        Returns False, having written nothing, when the template is absent or
        its `updated_at` is no longer the given one.
        """
        ...

    def delete(self, account_id: str, template_id: UUID) -> Deletion:
        """Delete a template unless something refers to it, in one step."""
        ...

    def reference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate | None:
        """Note that something needs the template; None when there is no such template."""
        ...

    def unreference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate | None:
        """Undo `reference`, if it was; None when there is no such template."""
        ...
