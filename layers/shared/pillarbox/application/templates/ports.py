"""The ports of the use cases for saved templates."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from enum import Enum, auto
from typing import Protocol
from uuid import UUID

from pillarbox.domain.templates.draft import SourceKind, TemplateDraft, TemplateVersion
from pillarbox.domain.templates.template import SavedTemplate
from pillarbox.rendering.template_check import Problem

#: As `rendering.compiling.compile_source`.
type CompileSource = Callable[[SourceKind, str], tuple[str, list[Problem]]]


class Renderings(Protocol):
    """Counts what authors let the service compile, render and store."""

    def count(
        self, account_id: str, kind: str, now: datetime, most: int, *, times: int = 1
    ) -> bool:
        """Count some of a kind in this minute; return False, without a change, over `most`."""


class DeleteResult(Enum):
    """The result of deleting a saved template."""

    DELETED = auto()
    #: There is no such template.
    ABSENT = auto()
    #: The template is in use, so it was not deleted.
    REFERENCED = auto()


class TemplateRecords(Protocol):
    """Saved templates and the names of what uses them."""

    def get(self, account_id: str, template_id: UUID) -> SavedTemplate | None:
        """Read one template with strong consistency."""

    def newest_first(self, account_id: str) -> Iterable[SavedTemplate]:
        """Read an account's templates, including internal copies."""

    def publish(
        self,
        template: SavedTemplate,
        version: TemplateVersion,
        *,
        unless_changed_since: datetime | None,
        draft: TemplateDraft | None = None,
    ) -> bool:
        """Write a template and its new version in one atomic step; its references stay unchanged.

        A draft is marked as published at its revision. Return False and write nothing if the
        version exists, the stored draft has another revision, or the stored template's
        `updated_at` is no longer `unless_changed_since`; None means that there is no template yet.
        """

    def delete(self, account_id: str, template_id: UUID) -> DeleteResult:
        """Delete a template in one atomic step, unless something uses it."""

    def reference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate | None:
        """Record that `by` uses the template; return None if there is no such template."""

    def unreference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate | None:
        """Remove the reference of `by`, if any; return None if there is no such template."""


class TemplateDrafts(Protocol):
    """The drafts of templates, at most one of each."""

    def get(self, account_id: str, template_id: UUID) -> TemplateDraft | None:
        """Read one draft with strong consistency."""

    def of_account(self, account_id: str) -> Iterable[TemplateDraft]:
        """Read an account's drafts, those of the newest templates first."""

    def count(self, account_id: str) -> int:
        """Return how many drafts an account has."""

    def put(self, draft: TemplateDraft, replaces: int) -> bool:
        """Store a draft in place of a revision; 0 means that there is no draft yet.

        Return False and write nothing if the stored draft is another revision.
        """

    def delete(self, account_id: str, template_id: UUID) -> None:
        """Delete a draft, if there is one."""


class TemplateVersions(Protocol):
    """The published versions of templates. None ever changes."""

    def get(self, account_id: str, template_id: UUID, version: int) -> TemplateVersion | None:
        """Read one version."""

    def newest_first(
        self, account_id: str, template_id: UUID, limit: int, before: int | None = None
    ) -> Sequence[TemplateVersion]:
        """Read so many versions, the newest first; with `before`, only older ones."""

    def delete(self, account_id: str, template_id: UUID, version: int) -> None:
        """Delete one version, if it is there."""

    def delete_all(self, account_id: str, template_id: UUID) -> None:
        """Delete the versions of a template that is deleted."""
