"""The shapes of the template editor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pillarbox.http.messages.replies import View, taken_from

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated, Literal

    from pydantic import Field

    from pillarbox.application.templates.rendered_source import Severity, TemplateReference
    from pillarbox.domain.accounts.account import MAX_KEEP
    from pillarbox.domain.templates.draft import SourceKind, TemplateVersion
    from pillarbox.http.json_types import FromOne, NextCursor, Timestamp, Uuid

    type By = Annotated[str, Field(description="The address of a user, or `operator`.")]
    type Revision = Annotated[int, Field(ge=0, description="Give it as `If-Match`.")]
    type Published = Annotated[
        int | None, Field(description="The version that sends use. Null if there is none.")
    ]
    type OwnText = Annotated[
        str | None, Field(description="The text part. Null makes one of the HTML at each send.")
    ]
    type Locales = Annotated[
        dict[str, LocaleItem], Field(description="By the language tag, in small letters.")
    ]
    type KeepDays = Annotated[
        int,
        Field(
            ge=0,
            le=MAX_KEEP,
            description="For at most how many days to keep the content of its emails: never more"
            " than `keepDays` of the account.",
        ),
    ]

_URLS = ("url", "link", "href")


class DraftListItem(View, name="TemplateDraftSummary"):
    """A draft as listed."""

    id: Uuid = taken_from("template_id")
    name: str = taken_from("content.name")
    subject: str = taken_from("content.subject")
    category: str = taken_from("content.category")
    kind: SourceKind = taken_from("content.kind")
    revision: Revision
    version: Annotated[int, Field(ge=0)]
    """The version that it was made from. 0 if there is none."""
    changed: bool
    """Whether it differs from that version."""
    changes: Annotated[int, Field(ge=0)] = taken_from(
        lambda draft: draft.revision - draft.version_revision
    )
    """How many revisions it is after it."""
    updated_by: By = taken_from("by")
    updated_at: Timestamp = taken_from("at")


class DraftList(View, name="TemplateDraftList"):
    """The saved drafts, those of the newest templates first."""

    items: list[DraftListItem]


class LocaleItem(View):
    """What a template has for one locale."""

    subject: str
    source: str
    text: OwnText


class DraftItem(DraftListItem, name="TemplateDraft", under="draft"):
    """A draft."""

    published_version: Published = taken_from("published")
    source: str = taken_from("draft.content.source")
    text: OwnText = taken_from("draft.content.text")
    keep_days: KeepDays = taken_from("draft.content.keep")
    locales: Locales = taken_from("draft.content.locales", LocaleItem)
    samples: dict[str, dict[str, object]] = taken_from("draft.samples")
    """Values for previews, by the names of their sets."""


class VersionItem(View, name="TemplateVersionSummary"):
    """A version as listed."""

    version: FromOne
    published: bool
    """Whether sends use it."""
    name: str = taken_from("content.name")
    subject: str = taken_from("content.subject")
    category: str = taken_from("content.category")
    kind: SourceKind = taken_from("content.kind")
    published_by: By = taken_from("by")
    published_at: Timestamp = taken_from("at")


class VersionList(View, name="TemplateVersionPage"):
    """Versions, the newest first."""

    items: list[VersionItem]
    next_cursor: NextCursor


def version_list(
    versions: Sequence[TemplateVersion], published: int | None, limit: int
) -> dict[str, Any]:
    has_more = len(versions) == limit and versions[-1].version > 1
    return VersionList.of(
        items=[VersionItem.of(one, published=one.version == published) for one in versions],
        next_cursor=str(versions[-1].version) if has_more else None,
    )


class VersionDetail(VersionItem, name="TemplateVersion"):
    """A version with its source, and the HTML that was made of it."""

    source: str = taken_from("content.source")
    text: OwnText = taken_from("content.text")
    keep_days: KeepDays = taken_from("content.keep")
    locales: Locales = taken_from("content.locales", LocaleItem)
    html: str


def _type_of(reference: TemplateReference) -> Literal["text", "list", "url"]:
    if reference.is_list:
        return "list"
    return "url" if reference.path.lower().endswith(_URLS) else "text"


class VariableItem(View, name="TemplateVariable"):
    """A path that the source refers to. `[]` marks a list: the rest applies to each entry."""

    path: Annotated[str, Field(examples=["order.lines[].price"])]
    line: int | None
    """Null if only the subject uses it."""
    required: bool
    default: object
    """Null if there is none."""
    type: Literal["text", "list", "url"] = taken_from(_type_of)
    """A guess from its use."""


class ProblemItem(View, name="TemplateProblem"):
    """Something that an author should know."""

    severity: Severity
    code: str
    message: str
    field: str
    """`source`, `subject`, `text` or `variables`."""
    line: int | None
    """Of the source."""
    suggestion: str | None
    """The nearest form that is allowed."""


class PublishedItem(View, name="PublishedTemplate"):
    """The template that sends use from now on."""

    id: Uuid = taken_from("template_id")
    version: FromOne
    variables: list[str]
    locales: list[str] = taken_from(lambda template: list(template.locales))
    """Those that it has beside the default."""
    updated_at: Timestamp
    problems: list[ProblemItem]
    """`variable_not_sent` for each variable that it needs and that recent sends did not give."""


class RenderedItem(View, name="RenderedTemplate"):
    """An email as a send would be, and what is wrong with its template."""

    subject: str
    html: str | None
    """Null if there is an error."""
    text: str | None
    """The text part of the email."""
    bytes: Annotated[int, Field(ge=0)] = taken_from(
        lambda rendered: len((rendered.html or "").encode())
    )
    """Of the HTML in UTF-8."""
    variables: list[VariableItem]
    problems: list[ProblemItem]
