"""Write, publish and show saved templates, whose published versions never change.

This works on all of an account's templates, including internal copies. The API's view, without
them, is `TemplateLibrary`.

Sends read the template's record. It and the version are written in one transaction, so each email
is one complete version.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
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
from pillarbox.application.validation import check_text
from pillarbox.domain.accounts.account import MAX_VERSIONS
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.header_text import MAX_SUBJECT
from pillarbox.domain.messages.mail import SavedBody
from pillarbox.domain.templates.draft import (
    LocaleContent,
    SourceKind,
    TemplateContent,
    TemplateDraft,
    TemplateVersion,
    check_source_size,
)
from pillarbox.domain.templates.locales import LocaleVariant
from pillarbox.domain.templates.template import SavedTemplate, fill_subject, unknown_template
from pillarbox.rendering.saved import check_values, sample_values, samples_of
from pillarbox.rendering.starters import get_starter
from pillarbox.rendering.template_check import check_template

#: Octets of a template's subject, HTML and variable names. A DynamoDB item holds 400 KB,
#: including the references.
MAX_STORED: Final = 350_000
#: The codes of what samples may do and the values of a send need not: a path may be a text in one
#: send and a list in another.
_OF_SAMPLES: Final = frozenset({"invalid_type", "missing_variable"})
#: The author of what the operator's command wrote.
OPERATOR: Final = "operator"
#: What an author calls a field of a saved template.
_SOURCES: Final = {"html": "source"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """Writes templates with their versions."""

    records: TemplateRecords
    versions: TemplateVersions
    compile_source: CompileSource
    clock: Clock

    def create(self, template: SavedTemplate, content: TemplateContent, by: str) -> SavedTemplate:
        """Publish the first version of a new template."""
        template = self._compiled(template, content)
        version = _version_of(template, content, by)
        self.records.publish(template, version, unless_changed_since=None)
        return template

    def publish(
        self,
        current: SavedTemplate | None,
        content: TemplateContent,
        by: str,
        draft: TemplateDraft | None = None,
    ) -> SavedTemplate:
        """Publish the next version of a template, or the first one of a draft."""
        now = self.clock()
        if current is not None:
            changed = replace(
                current,
                version=current.version + 1,
                # Always later than before, because the time identifies the version.
                updated_at=max(now, current.updated_at + timedelta(milliseconds=1)),
            )
        elif draft is not None:
            changed = _new_template(draft, now)
        else:
            raise TypeError("a template without a draft is created")
        changed = self._compiled(changed, content)
        self._forget_oldest_version(changed)
        published = self.records.publish(
            changed,
            _version_of(changed, content, by),
            unless_changed_since=current.updated_at if current else None,
            draft=draft,
        )
        if not published:
            raise ServiceError(
                "service_unavailable",
                "Another user changed the template at the same time: try again.",
            )
        return changed

    def _compiled(self, template: SavedTemplate, content: TemplateContent) -> SavedTemplate:
        """Return the template with what an author wrote, compiled, and with its variables."""
        check_text("name", content.name)
        check_text("category", content.category)
        parts = {locale: content.in_locale(locale) for locale in content.locales}
        _check_size(
            text
            for one in (content, *parts.values())
            for text in (one.subject, one.source, one.text or "")
        )
        default, names = self._compiled_part(content)
        locales: dict[str, LocaleVariant] = {}
        stored = _texts_of(default)
        for locale, part in parts.items():
            with _within(locale):
                locales[locale], more = self._compiled_part(part)
            names |= more
            stored += (locale, *_texts_of(locales[locale]))
            _check_size(stored)  # before the next one is compiled
        _check_size((*stored, *names))
        return replace(
            template,
            name=content.name,
            subject=default.subject,
            category=content.category,
            keep=content.keep,
            html=default.html,
            text=default.text,
            variables=tuple(names),
            required=default.required,
            locales=locales,
        )

    def _compiled_part(self, content: TemplateContent) -> tuple[LocaleVariant, dict[str, None]]:
        """Compile subject, body and text part; return them, and the names of their variables."""
        from pillarbox.application.render import render  # noqa: PLC0415  loads the engine

        check_text("subject", content.subject, MAX_SUBJECT)
        if not content.source.strip():
            raise ValidationFailed(FieldError("html", "must not be empty", "too_short"))
        check_source_size(content.source)
        variables = check_template(content.subject, content.source, content.text)
        html, _ = self.compile_source(content.kind, content.source)
        if html != content.source:
            variables = check_template(content.subject, html, content.text)
        try:
            render(SavedBody(source=html, values=samples_of(variables.references)))
        except ValidationFailed as failed:
            if not {error.code for error in failed.errors} <= _OF_SAMPLES:
                raise
        part = LocaleVariant(content.subject, html, content.text, variables.required)
        return part, dict.fromkeys(variables.names)

    def _forget_oldest_version(self, template: SavedTemplate) -> None:
        """Delete the version for which the next one leaves no room; each publication does so."""
        if (oldest := template.version - MAX_VERSIONS) > 0:
            self.versions.delete(template.account_id, UUID(template.template_id), oldest)


def _check_size(texts: Iterable[str]) -> None:
    if sum(len(text.encode()) for text in texts) > MAX_STORED:
        message = f"must have at most {MAX_STORED} octets, including subject and variable names"
        raise ValidationFailed(FieldError("html", message, "too_large"))


def _texts_of(part: LocaleVariant) -> tuple[str, ...]:
    return part.subject, part.html, part.text or "", *part.required


@contextmanager
def _within(locale: str) -> Iterator[None]:
    """Let failures name the locale in which they are."""
    try:
        yield
    except ValidationFailed as failed:
        errors = (
            replace(error, field=f"locales.{locale}.{_SOURCES.get(error.field, error.field)}")
            for error in failed.errors
        )
        raise ValidationFailed(*errors, unlisted=failed.unlisted) from failed


def content_of(template: SavedTemplate) -> TemplateContent:
    """Return a template as its author would have written it in HTML."""
    return TemplateContent(
        name=template.name,
        subject=template.subject,
        category=template.category,
        keep=template.keep,
        kind=SourceKind.HTML,
        source=template.html,
        text=template.text,
        locales={
            name: LocaleContent(subject=part.subject, source=part.html, text=part.text)
            for name, part in template.locales.items()
        },
    )


def _new_template(draft: TemplateDraft, now: datetime) -> SavedTemplate:
    """Return the template of a draft that was not published, without its content."""
    return SavedTemplate(
        account_id=draft.account_id,
        template_id=draft.template_id,
        name="",
        subject="",
        category="",
        html="",
        variables=(),
        required=(),
        internal=False,
        version=draft.version + 1,
        created_at=now,
        updated_at=now,
    )


def _version_of(template: SavedTemplate, content: TemplateContent, by: str) -> TemplateVersion:
    return TemplateVersion(
        account_id=template.account_id,
        template_id=template.template_id,
        version=template.version,
        content=content,
        html=template.html,
        by=by,
        at=template.updated_at,
    )


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
            internal: whether this is a copy for a campaign or workflow, which the API
                does not show.
            kind: the language of the body.
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
        """Return a starter as the source of a new template, with the account's brand."""
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
        """Return the subject and the HTML of a template; None fills in the names of variables."""
        from pillarbox.rendering.sandbox import render_saved  # noqa: PLC0415  loads the engine

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
        """Change a template. `kind` is that of a new body. Accepted emails keep the old content."""
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
        """Delete a template, its versions and its draft for good (contract 4.10)."""
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
        """Record that `by` uses a template, which then cannot be deleted."""
        check_text("by", by)
        return _existing(self.records.reference(account_id, template_id, by))

    def unreference(self, account_id: str, template_id: UUID, by: str) -> SavedTemplate:
        """Remove the reference of `by`, if it exists."""
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


class TemplateLibrary:
    """The API's view of saved templates: `TemplateAuthoring` without internal copies or writing."""

    def __init__(self, templates: TemplateAuthoring) -> None:
        self._templates = templates

    def page(self, account_id: str, *, skip: int, limit: int) -> TemplatePage:
        return self._templates.page(account_id, skip=skip, limit=limit)

    def each(self, account_id: str) -> Iterable[SavedTemplate]:
        """Read all templates, newest first, one by one: together they may be large."""
        templates = self._templates.records.newest_first(account_id)
        return (template for template in templates if not template.internal)

    def get(self, account_id: str, template_id: UUID) -> SavedTemplate:
        template = self._templates.get(account_id, template_id)
        if template.internal:
            raise unknown_template()
        return template

    def render(
        self, account_id: str, template_id: UUID, values: Mapping[str, Json] | None
    ) -> tuple[str, str]:
        """Return the subject and the HTML of a template, as `TemplateAuthoring.render`."""
        self.get(account_id, template_id)
        return self._templates.render(account_id, template_id, values)

    def delete(self, account_id: str, template_id: UUID) -> None:
        """Delete a template for good, or one that was never published."""
        # Safe as two steps: no template becomes internal later. One without a version has a draft.
        template = self._templates.records.get(account_id, template_id)
        if template is not None and template.internal:
            raise unknown_template()
        self._templates.delete(account_id, template_id)
