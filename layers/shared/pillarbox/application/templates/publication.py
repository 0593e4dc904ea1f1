"""Publish templates: compile what an author wrote, and store it as an immutable version.

Sends read the template's record. It and the version are written in one transaction, so each email
is one complete version.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from pillarbox.application.ports import Clock
from pillarbox.application.render import render
from pillarbox.application.templates.ports import CompileSource, TemplateRecords, TemplateVersions
from pillarbox.application.validation import check_text
from pillarbox.domain.accounts.limits import MAX_VERSIONS
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
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
from pillarbox.domain.templates.template import SavedTemplate
from pillarbox.rendering.saved import samples_of
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
        """Publish the first version of a new template.

        Raises:
            ValidationFailed: on any of the fields; the source is `html`.
        """
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
        """Publish the next version of a template, or the first one of a draft.

        Raises:
            ValidationFailed: as `create`.
            ServiceError: `service_unavailable`, if somebody else changed the template or the
                draft at the same time; nothing is written.
        """
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
        """Return the template with what an author wrote, compiled, and with its variables.

        Raises:
            ValidationFailed: on any of the fields; the source is `html`.
        """
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
        """Compile subject, body and text part; return them, and the names of their variables.

        Raises:
            ValidationFailed: on any of the fields; the source is `html`.
        """
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
