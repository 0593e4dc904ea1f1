"""Write the responses of the template editor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pillarbox.http.messages.replies import timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pillarbox.application.templates.editing import DraftState
    from pillarbox.application.templates.rendered_source import (
        Problem,
        RenderedSource,
        TemplateReference,
    )
    from pillarbox.domain.templates.draft import TemplateContent, TemplateDraft, TemplateVersion
    from pillarbox.domain.templates.template import SavedTemplate
    from pillarbox.http.templates import reply_types as template_types

_URLS = ("url", "link", "href")


def draft_list(drafts: Iterable[TemplateDraft]) -> template_types.DraftList:
    """Return drafts without their sources."""
    return {"items": [_draft_list_item(draft) for draft in drafts]}


def draft_item(state: DraftState) -> template_types.DraftItem:
    """Return a draft."""
    draft = state.draft
    return {
        **_draft_list_item(draft),
        "publishedVersion": state.published,
        "source": draft.content.source,
        "text": draft.content.text,
        "keepDays": draft.content.keep,
        "locales": locales_of(draft.content),
        "samples": {name: dict(values) for name, values in draft.samples.items()},
    }


def published_item(
    template: SavedTemplate, problems: Iterable[Problem]
) -> template_types.PublishedItem:
    """Return what was published."""
    return {
        "id": template.template_id,
        "version": template.version,
        "variables": list(template.variables),
        "locales": list(template.locales),
        "updatedAt": timestamp(template.updated_at),
        "problems": [problem_item(one) for one in problems],
    }


def version_list(
    versions: Sequence[TemplateVersion], published: int | None, limit: int
) -> template_types.VersionList:
    """Return a page of versions."""
    has_more = len(versions) == limit and versions[-1].version > 1
    return {
        "items": [_version_item(version, published) for version in versions],
        "nextCursor": str(versions[-1].version) if has_more else None,
    }


def version_detail(version: TemplateVersion, published: int | None) -> template_types.VersionDetail:
    """Return a version with its source."""
    return {
        **_version_item(version, published),
        "source": version.content.source,
        "text": version.content.text,
        "keepDays": version.content.keep,
        "locales": locales_of(version.content),
        "html": version.html,
    }


def locales_of(content: TemplateContent) -> dict[str, template_types.LocaleItem]:
    """Return what an author wrote for each locale."""
    return {
        name: {"subject": part.subject, "source": part.source, "text": part.text}
        for name, part in content.locales.items()
    }


def rendered_item(
    rendered: RenderedSource, of_traffic: Iterable[Problem] = ()
) -> template_types.RenderedItem:
    """Return a preview, with the problems of its source and of recent sends."""
    return {
        "subject": rendered.subject,
        "html": rendered.html,
        "text": rendered.text,
        "bytes": len((rendered.html or "").encode()),
        "variables": [_variable_item(one) for one in rendered.variables],
        "problems": [problem_item(one) for one in (*rendered.problems, *of_traffic)],
    }


def _draft_list_item(draft: TemplateDraft) -> template_types.DraftListItem:
    content = draft.content
    return {
        "id": draft.template_id,
        "name": content.name,
        "subject": content.subject,
        "category": content.category,
        "kind": content.kind,
        "revision": draft.revision,
        "version": draft.version,
        "changed": draft.changed,
        "changes": draft.revision - draft.version_revision,
        "updatedBy": draft.by,
        "updatedAt": timestamp(draft.at),
    }


def _version_item(version: TemplateVersion, published: int | None) -> template_types.VersionItem:
    content = version.content
    return {
        "version": version.version,
        "published": version.version == published,
        "name": content.name,
        "subject": content.subject,
        "category": content.category,
        "kind": content.kind,
        "publishedBy": version.by,
        "publishedAt": timestamp(version.at),
    }


def _variable_item(reference: TemplateReference) -> template_types.VariableItem:
    return {
        "path": reference.path,
        "line": reference.line,
        "required": reference.required,
        "default": reference.default,
        "type": _type_of(reference),
    }


def _type_of(reference: TemplateReference) -> Literal["text", "list", "url"]:
    if reference.is_list:
        return "list"
    return "url" if reference.path.lower().endswith(_URLS) else "text"


def problem_item(problem: Problem) -> template_types.ProblemItem:
    """Return a problem of a template."""
    return {
        "severity": problem.severity,
        "code": problem.code,
        "message": problem.message,
        "field": problem.field,
        "line": problem.line,
        "suggestion": problem.suggestion,
    }
