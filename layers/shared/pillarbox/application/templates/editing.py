"""Edit templates: drafts that several people may change, and the versions published from them.

A change names the revision that it replaces, so it cannot overwrite a change that its author has
not seen. Sends read what is published, never a draft.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from pillarbox.application.ports import Clock
from pillarbox.application.templates.authoring import OPERATOR, TemplateAuthoring, content_of
from pillarbox.application.templates.ports import Renderings
from pillarbox.application.validation import MAX_NAME
from pillarbox.domain.accounts.account import MAX_TEMPLATES, limit_exceeded
from pillarbox.domain.accounts.quota import too_many_this_minute
from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.domain.ids import new_id
from pillarbox.domain.templates.draft import (
    SampleSets,
    SourceKind,
    TemplateContent,
    TemplateDraft,
    TemplateVersion,
)
from pillarbox.domain.templates.template import SavedTemplate, unknown_template
from pillarbox.rendering.starters import get_starter

#: Two a second. The editor asks again when the author pauses, and waits after a refusal.
PER_MINUTE: Final = 120
#: A draft has up to 250 KB, and the editor saves it when its author pauses.
DRAFTS_PER_MINUTE: Final = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderBudget:
    """The budget of each account in a minute."""

    renderings: Renderings
    clock: Clock

    def take(self, account_id: str, renderings: int = 1) -> None:
        """Take one rendering for each source that is compiled."""
        self._take(account_id, "render", "compile and render sources", PER_MINUTE, renderings)

    def take_draft(self, account_id: str) -> None:
        """Take one draft that is stored."""
        self._take(account_id, "draft", "save drafts", DRAFTS_PER_MINUTE)

    def _take(self, account_id: str, kind: str, what: str, most: int, times: int = 1) -> None:
        now = self.clock()
        if not self.renderings.count(account_id, kind, now, most, times=times):
            message = f"An account can {what} {most} times a minute."
            raise too_many_this_minute(message, most, now)


_EMPTY: Final = "<p>Hello {{ name | default('there') }},</p>\n"
_COPY: Final = "Copy of "
#: The name of the set of samples that a starter brings along.
_SAMPLES: Final = "sample"


@dataclass(frozen=True, slots=True)
class DraftState:
    """A draft, and the number of the published version, None if there is none."""

    draft: TemplateDraft
    published: int | None


class DraftChanged(ServiceError):
    """Somebody else changed the draft; `state` is what is stored, `revision` what was named."""

    def __init__(self, revision: int, state: DraftState) -> None:
        super().__init__(
            "draft_changed",
            f"{state.draft.by} changed the draft: it has revision {state.draft.revision} now.",
        )
        self.revision = revision
        self.state = state


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTemplate:
    """A template to begin with: a starter's, some HTML, or a few words."""

    name: str
    category: str
    starter: str | None = None
    html: str | None = None


@dataclass(frozen=True, slots=True)
class TemplateEditing:
    """The drafts and versions of the templates that the API shows."""

    templates: TemplateAuthoring
    budget: RenderBudget

    def create(self, account_id: str, new: NewTemplate, by: str) -> DraftState:
        """Begin a template. It cannot be sent before it is published."""
        subject, source = new.name, _EMPTY if new.html is None else new.html
        samples: SampleSets = {}
        if new.starter is not None:
            starter = self.templates.starter_source(account_id, new.starter)
            subject, source = starter.subject, starter.html
            variables = get_starter(new.starter).variables
            samples = {_SAMPLES: {variable.name: variable.sample for variable in variables}}
        content = TemplateContent(
            name=new.name,
            subject=subject,
            category=new.category,
            kind=SourceKind.HTML,
            source=source,
        )
        return self._begin(account_id, content, samples, by)

    def duplicate(self, account_id: str, template_id: UUID, by: str) -> DraftState:
        """Begin a template with the draft of another one."""
        draft = self.draft(account_id, template_id).draft
        content = replace(draft.content, name=f"{_COPY}{draft.content.name}"[:MAX_NAME])
        return self._begin(account_id, content, draft.samples, by)

    def drafts(self, account_id: str) -> Iterable[TemplateDraft]:
        """Return the stored drafts of an account, those of the newest templates first."""
        return self.templates.drafts.of_account(account_id)

    def ids_of(self, account_id: str, name: str) -> Iterable[str]:
        """Return the ids of the templates whose drafts have a name."""
        drafts = self.drafts(account_id)
        return (draft.template_id for draft in drafts if draft.content.name == name)

    def draft(self, account_id: str, template_id: UUID) -> DraftState:
        """Return a draft, or what is published if there is no later work on it."""
        return self._read(account_id, template_id)[0]

    def save(  # noqa: PLR0913  a draft has two parts
        self,
        account_id: str,
        template_id: UUID,
        change: Callable[[TemplateContent], TemplateContent],
        samples: SampleSets,
        *,
        revision: int,
        by: str,
    ) -> DraftState:
        """Replace a revision of a draft. The source may still have faults."""
        state, _ = self._read(account_id, template_id, revision)
        draft = state.draft
        content = change(draft.content)
        if (content, samples) == (draft.content, draft.samples):
            return state
        # Other samples do not make the draft differ from what is published.
        same = content == draft.content and not draft.changed
        return self._store(
            state,
            replace(
                draft,
                content=content,
                samples=samples,
                version_revision=revision + 1 if same else draft.version_revision,
            ),
            by,
        )

    def publish(
        self, account_id: str, template_id: UUID, *, revision: int, by: str
    ) -> SavedTemplate:
        """Publish a revision of a draft; return the template that sends use from now on."""
        state, template = self._read(account_id, template_id, revision)
        self.budget.take(account_id, 1 + len(state.draft.content.locales))
        if template is not None and not state.draft.changed:
            return template
        try:
            return self.templates.publication.publish(
                template, state.draft.content, by, state.draft
            )
        except ValidationFailed as failed:
            raise on_source(failed) from failed
        except ServiceError:
            self._read(account_id, template_id, revision)  # may raise DraftChanged
            raise

    def versions(
        self, account_id: str, template_id: UUID, limit: int, before: int | None
    ) -> tuple[Sequence[TemplateVersion], int | None]:
        """Return versions, the newest first, and the number of the published one."""
        published = self.draft(account_id, template_id).published
        found = self.templates.versions.newest_first(account_id, template_id, limit, before)
        return found, published

    def version(
        self, account_id: str, template_id: UUID, number: int
    ) -> tuple[TemplateVersion, int | None]:
        """Return one version, and the number of the published one."""
        published = self.draft(account_id, template_id).published
        return self._version(account_id, template_id, number), published

    def restore(
        self, account_id: str, template_id: UUID, number: int, *, revision: int, by: str
    ) -> DraftState:
        """Replace a revision of a draft by what was published once; the samples stay."""
        state = self.draft(account_id, template_id)
        version = self._version(account_id, template_id, number)
        _check_revision(state, revision)
        # Old words do not bring back days that somebody has shortened since.
        content = replace(version.content, keep=min(version.content.keep, state.draft.content.keep))
        is_current = number == state.published and content == version.content
        draft = replace(
            state.draft,
            content=content,
            version=number if is_current else state.draft.version,
            version_revision=revision + 1 if is_current else state.draft.version_revision,
        )
        return self._store(state, draft, by)

    def _begin(
        self, account_id: str, content: TemplateContent, samples: SampleSets, by: str
    ) -> DraftState:
        if self.templates.drafts.count(account_id) >= MAX_TEMPLATES:
            raise limit_exceeded("template_limit_exceeded", MAX_TEMPLATES, "templates")
        now = self.templates.clock()
        draft = TemplateDraft(
            account_id=account_id,
            template_id=str(new_id(now)),
            content=content,
            samples=samples,
            revision=1,
            by=by,
            at=now,
        )
        self.templates.drafts.put(draft, replaces=0)
        return DraftState(draft, None)

    def _store(self, state: DraftState, draft: TemplateDraft, by: str) -> DraftState:
        revision = state.draft.revision
        draft = replace(draft, revision=revision + 1, by=by, at=self.templates.clock())
        try:
            stored = self.templates.drafts.put(draft, replaces=revision)
        except ValidationFailed as failed:
            raise on_source(failed) from failed
        if not stored:
            current = self.draft(draft.account_id, UUID(draft.template_id))
            raise DraftChanged(revision, current)
        return replace(state, draft=draft)

    def _read(
        self, account_id: str, template_id: UUID, revision: int | None = None
    ) -> tuple[DraftState, SavedTemplate | None]:
        """Read a draft and its template, and check the revision if one is given."""
        stored = self.templates.drafts.get(account_id, template_id)
        template = self.templates.records.get(account_id, template_id)
        if template is not None and template.internal:
            raise unknown_template()
        if template is None:
            if stored is None:
                raise unknown_template()
            state = DraftState(stored, None)
        elif stored is None or (not stored.changed and stored.version < template.version):
            state = DraftState(self._published_as_draft(template, stored), template.version)
        else:
            state = DraftState(stored, template.version)
        if revision is not None:
            _check_revision(state, revision)
        return state, template

    def _version(self, account_id: str, template_id: UUID, number: int) -> TemplateVersion:
        version = self.templates.versions.get(account_id, template_id, number)
        if version is None:
            raise ServiceError("version_not_found", "The template has no such version.")
        return version

    def _published_as_draft(
        self, template: SavedTemplate, stored: TemplateDraft | None
    ) -> TemplateDraft:
        """Return the draft of a template that was published without one, such as by the command."""
        account_id, template_id = template.account_id, UUID(template.template_id)
        version = self.templates.versions.get(account_id, template_id, template.version)
        revision = stored.revision if stored else 0
        return TemplateDraft(
            account_id=account_id,
            template_id=template.template_id,
            content=version.content if version else content_of(template),
            samples=stored.samples if stored else {},
            revision=revision,
            by=version.by if version else OPERATOR,
            at=template.updated_at,
            version=template.version,
            version_revision=revision,
        )


def _check_revision(state: DraftState, revision: int) -> None:
    if revision != state.draft.revision:
        raise DraftChanged(revision, state)


def on_source(failed: ValidationFailed) -> ValidationFailed:
    """Return the same failure on `source`, the field that an author wrote."""
    errors = (
        replace(error, field="source") if error.field == "html" else error
        for error in failed.errors
    )
    return ValidationFailed(*errors, unlisted=failed.unlisted)
