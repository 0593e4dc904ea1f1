"""Saved templates: writing them, reading them, and what holds a deletion back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from pillarbox.application.accounts.lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords
from pillarbox.application.ports import Clock
from pillarbox.application.templates.ports import Deletion, TemplateRecords
from pillarbox.application.validation import check_text
from pillarbox.domain.errors import FieldFault, ServiceError, ValidationFailed
from pillarbox.domain.ids import new_id
from pillarbox.domain.mail import MAX_SUBJECT
from pillarbox.domain.template import SavedTemplate
from pillarbox.rendering.saved import check_template

#: Octets of a template with everything that is kept of it. An item of
#: DynamoDB holds 400 KB, its references among them.
MAX_STORED: Final = 350_000


@dataclass(frozen=True, slots=True)
class TemplatePage:
    """A part of a list, and how long the whole list is."""

    items: Sequence[SavedTemplate]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSource:
    """What an author writes: name and category for people, subject and body for mails.

    The subject is text with plain references, the body is HTML (see `check_template`).
    """

    name: str
    subject: str
    category: str
    html: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateChanges:
    """What to change of a template; None leaves a field as it is."""

    name: str | None = None
    subject: str | None = None
    category: str | None = None
    html: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateAuthoring:
    """The saved templates of all accounts."""

    records: TemplateRecords
    accounts: AccountRecords
    clock: Clock

    def create(
        self, account_id: str, source: TemplateSource, *, internal: bool = False
    ) -> SavedTemplate:
        """Save a new template; its variables are those that it really refers to.

        Args:
            account_id: whose template it is.
            source: what its author wrote.
            internal: a copy made for a campaign or workflow, which lists leave out.

        Raises:
            ValidationFailed: on any of the fields.
            ServiceError: `account_not_found`.
        """
        now = self.clock()
        template = _checked(
            SavedTemplate(
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
        )
        find_account(self.accounts, account_id)
        self.records.add(template)
        return template

    def update(self, account_id: str, template_id: UUID, changes: TemplateChanges) -> SavedTemplate:
        """Change what the changes name; mail that is accepted already stays as it is.

        Raises:
            ValidationFailed: on any of the fields.
            ServiceError: `template_not_found`; `service_unavailable`, when somebody
                else changed the template in the same moment: nothing was written.
        """
        known = self.get(account_id, template_id)
        if changes == TemplateChanges():
            return known
        changed = _checked(
            replace(
                known,
                name=known.name if changes.name is None else changes.name,
                subject=known.subject if changes.subject is None else changes.subject,
                category=known.category if changes.category is None else changes.category,
                html=known.html if changes.html is None else changes.html,
                # Always later, so that the time tells one version from the next.
                updated_at=max(self.clock(), known.updated_at + timedelta(milliseconds=1)),
            )
        )
        if not self.records.replace(changed, unless_changed_since=known.updated_at):
            raise ServiceError(
                "service_unavailable",
                "Somebody else changed the template in the same moment; nothing was written.",
            )
        return changed

    def get(self, account_id: str, template_id: UUID) -> SavedTemplate:
        """Read one template.

        Raises:
            ServiceError: `template_not_found`, alike for an absent template
                and for another account's.
        """
        return _found(self.records.get(account_id, template_id))

    def page(self, account_id: str, *, skip: int, limit: int) -> TemplatePage:
        """Read a page of the library, the newest first; internal copies are no part of it."""
        items: list[SavedTemplate] = []
        total = 0
        for template in self.records.newest_first(account_id):
            if template.internal:
                continue
            if skip <= total < skip + limit:  # of the others not one is kept: they may be large
                items.append(template)
            total += 1
        return TemplatePage(items, total)

    def delete(self, account_id: str, template_id: UUID) -> None:
        """Delete a template for good (contract 4.10).

        Raises:
            ServiceError: `template_not_found`; `template_in_use`, while an
                active campaign or scheduled send refers to it.
        """
        match self.records.delete(account_id, template_id):
            case Deletion.ABSENT:
                raise template_not_found()
            case Deletion.REFERENCED:
                raise ServiceError(
                    "template_in_use",
                    "An active campaign or a scheduled send uses the template; it stays.",
                )

    def reference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate:
        """Hold the deletion of a template back: `by` is about to use it.

        Raises:
            ValidationFailed: on `by`.
            ServiceError: `template_not_found`.
        """
        check_text("by", by)
        return _found(self.records.reference(account_id, template_id, by))

    def unreference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate:
        """Let a template go: `by` uses it no more, or never did.

        Raises:
            ValidationFailed: on `by`.
            ServiceError: `template_not_found`.
        """
        check_text("by", by)
        return _found(self.records.unreference(account_id, template_id, by))


def _checked(template: SavedTemplate) -> SavedTemplate:
    """The template with its variables, if it may be saved."""
    check_text("name", template.name)
    check_text("subject", template.subject, MAX_SUBJECT)
    check_text("category", template.category)
    if not template.html.strip():
        raise ValidationFailed(FieldFault("html", "must not be empty", "too_short"))
    found = check_template(template.subject, template.html)
    stored = (template.subject, template.html, *found.names, *found.required)
    if sum(len(text.encode()) for text in stored) > MAX_STORED:
        message = f"must have at most {MAX_STORED} octets, with the variables that it names"
        raise ValidationFailed(FieldFault("html", message, "too_large"))
    return replace(template, variables=found.names, required=found.required)


def _found(template: SavedTemplate | None) -> SavedTemplate:
    if template is None:
        raise template_not_found()
    return template


def template_not_found() -> ServiceError:
    """The one answer for an absent template and another account's."""
    return ServiceError("template_not_found", "There is no such template.")
