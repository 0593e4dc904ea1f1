"""Write saved templates: create, change, delete, and record what uses them.

This works on all of an account's templates, including internal copies. The API's view, without
them, is `templates.saved.TemplateLibrary`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from pillarbox.application.account_lookup import AccountReader, find_account
from pillarbox.application.ports import Clock
from pillarbox.application.templates.ports import (
    CompileSource,
    DeleteResult,
    TemplateDrafts,
    TemplateRecords,
    TemplateVersions,
)
from pillarbox.application.templates.publication import OPERATOR, Publication, content_of
from pillarbox.application.validation import check_text
from pillarbox.domain.errors import Json, ServiceError
from pillarbox.domain.ids import new_id
from pillarbox.domain.templates.draft import SourceKind, TemplateContent
from pillarbox.domain.templates.template import (
    SavedTemplate,
    fill_subject,
    unknown_template,
)
from pillarbox.rendering.saved import check_values, sample_values
from pillarbox.rendering.starters import get_starter


@dataclass(frozen=True, slots=True)
class TemplatePage:
    """One page of a list, and the length of the whole list."""

    items: Sequence[SavedTemplate]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSource:
    """The content of a template, as its author wrote it.

    The subject is text with plain references, and the body is HTML (see `check_template`) or MJML.
    Name and category are for display only.
    """

    name: str
    subject: str
    category: str
    html: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateChanges:
    """Changes to a template; None leaves a field unchanged."""

    name: str | None = None
    subject: str | None = None
    category: str | None = None
    html: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateAuthoring:
    """The saved templates of all accounts, including internal copies."""

    records: TemplateRecords
    drafts: TemplateDrafts
    versions: TemplateVersions
    accounts: AccountReader
    compile_source: CompileSource
    clock: Clock
    #: Returns whether an email of an account waits that a template made.
    waits_for: Callable[[str, str], bool] = lambda _account, _template: False

    @property
    def publication(self) -> Publication:
        """Publish templates."""
        return Publication(
            records=self.records,
            versions=self.versions,
            compile_source=self.compile_source,
            clock=self.clock,
        )

    def create(
        self,
        account_id: str,
        source: TemplateSource,
        *,
        internal: bool = False,
        kind: SourceKind = SourceKind.HTML,
    ) -> SavedTemplate:
        """Save a new template. Its variables are the names that its source refers to.

        Args:
            account_id: the account that owns the template.
            source: the content.
            internal: whether this is a copy for a campaign or workflow, which the API
                does not show.
            kind: the language of the body.

        Raises:
            ValidationFailed: on any of the fields.
            ServiceError: `account_not_found`.
        """
        now = self.clock()
        find_account(self.accounts, account_id)
        template = SavedTemplate(
            account_id=account_id,
            template_id=str(new_id(now)),
            name=source.name,
            subject=source.subject,
            category=source.category,
            html=source.html,
            variables=(),
            required=(),
            internal=internal,
            created_at=now,
            updated_at=now,
        )
        content = replace(content_of(template), kind=kind)
        return self.publication.create(template, content, OPERATOR)

    def starter_source(self, account_id: str, slug: str) -> TemplateSource:
        """Return a starter as the source of a new template, with the account's brand.

        Raises:
            ServiceError: `account_not_found` or `template_not_found`.
        """
        from pillarbox.rendering.starter_source import (  # noqa: PLC0415  loads the engine
            starter_source,
        )

        account, starter = find_account(self.accounts, account_id), get_starter(slug)
        brand = replace(account.brand, name=account.brand.name_or(account.name))
        subject, html = starter_source(starter, brand, account.default_sender)
        return TemplateSource(name=starter.name, subject=subject, category="starter", html=html)

    def render(
        self, account_id: str, template_id: UUID, values: Mapping[str, Json] | None
    ) -> tuple[str, str]:
        """Return the subject and the HTML of a template; None fills in the names of variables.

        Raises:
            ValidationFailed: a value is missing or has the wrong type.
            ServiceError: `account_not_found` or `template_not_found`.
        """
        from pillarbox.rendering.engine import render_saved  # noqa: PLC0415  loads the engine

        brand = find_account(self.accounts, account_id).brand
        template = self.get(account_id, template_id)
        own = brand.variables()
        shown = sample_values(template.required) | own if values is None else own | dict(values)
        check_values(template.required, shown)
        return fill_subject(template.subject, shown), render_saved(template.html, shown)

    def update(
        self,
        account_id: str,
        template_id: UUID,
        changes: TemplateChanges,
        kind: SourceKind = SourceKind.HTML,
    ) -> SavedTemplate:
        """Change a template. `kind` is that of a new body. Accepted emails keep the old content.

        Raises:
            ValidationFailed: on any of the fields.
            ServiceError: `template_not_found`; `service_unavailable`, if
                somebody else changed the template at the same time; nothing is written.
        """
        current = self.get(account_id, template_id)
        if changes == TemplateChanges():
            return current
        content = self._content_of(current)
        content = replace(
            content,
            name=content.name if changes.name is None else changes.name,
            subject=content.subject if changes.subject is None else changes.subject,
            category=content.category if changes.category is None else changes.category,
        )
        if changes.html is not None:
            content = replace(content, kind=kind, source=changes.html)
        return self.publication.publish(current, content, OPERATOR)

    def get(self, account_id: str, template_id: UUID) -> SavedTemplate:
        """Read one template.

        Raises:
            ServiceError: `template_not_found`, also for another account's template.
        """
        return _existing(self.records.get(account_id, template_id))

    def page(self, account_id: str, *, skip: int, limit: int) -> TemplatePage:
        """Read a page of an account's templates without internal copies, newest first."""
        items: list[SavedTemplate] = []
        total = 0
        for template in self.records.newest_first(account_id):
            if template.internal:
                continue
            if skip <= total < skip + limit:  # drops the others: they may be large
                items.append(template)
            total += 1
        return TemplatePage(items, total)

    def delete(self, account_id: str, template_id: UUID) -> None:
        """Delete a template, its versions and its draft for good (contract 4.10).

        Raises:
            ServiceError: `template_not_found`; `template_in_use`, if an active
                campaign or scheduled send uses it.
        """
        if self.waits_for(account_id, str(template_id)):
            raise _in_use()
        match self.records.delete(account_id, template_id):
            case DeleteResult.ABSENT:
                if self.drafts.get(account_id, template_id) is None:
                    raise unknown_template()
            case DeleteResult.REFERENCED:
                raise _in_use()
        # The draft goes last: while it exists, the deletion can be repeated.
        self.versions.delete_all(account_id, template_id)
        self.drafts.delete(account_id, template_id)

    def _content_of(self, template: SavedTemplate) -> TemplateContent:
        """Return what the author of the current version wrote."""
        template_id = UUID(template.template_id)
        version = self.versions.get(template.account_id, template_id, template.version)
        return version.content if version else content_of(template)

    def reference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate:
        """Record that `by` uses a template, which then cannot be deleted.

        Raises:
            ValidationFailed: on `by`.
            ServiceError: `template_not_found`.
        """
        check_text("by", by)
        return _existing(self.records.reference(account_id, template_id, by))

    def unreference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate:
        """Remove the reference of `by`, if it exists.

        Raises:
            ValidationFailed: on `by`.
            ServiceError: `template_not_found`.
        """
        check_text("by", by)
        return _existing(self.records.unreference(account_id, template_id, by))


def _in_use() -> ServiceError:
    return ServiceError(
        "template_in_use",
        "An active campaign or scheduled send uses the template; it was not deleted.",
    )


def _existing(template: SavedTemplate | None) -> SavedTemplate:
    if template is None:
        raise unknown_template()
    return template
