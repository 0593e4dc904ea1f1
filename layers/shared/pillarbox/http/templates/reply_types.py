"""The JSON of each response of the template editor, as `replies.py` writes it.

The OpenAPI document is made from these types, and no function loads them.
"""

from typing import Annotated, Literal, TypedDict

from pydantic import Field

from pillarbox.application.templates.rendered_source import Severity
from pillarbox.domain.accounts.account import MAX_KEEP
from pillarbox.domain.templates.draft import SourceKind
from pillarbox.http.messages.reply_types import NextCursor, Timestamp, Uuid

type By = Annotated[str, Field(description="The address of a user, or `operator`.")]
type Revision = Annotated[int, Field(ge=0, description="Give it as `If-Match`.")]
type Published = Annotated[
    int | None, Field(description="The version that sends use. Null if there is none.")
]


class DraftListItem(TypedDict):
    """A draft as listed."""

    id: Uuid
    name: str
    subject: str
    category: str
    kind: SourceKind
    revision: Revision
    version: Annotated[
        int, Field(ge=0, description="The version that it was made from. 0 if there is none.")
    ]
    changed: Annotated[bool, Field(description="Whether it differs from that version.")]
    changes: Annotated[int, Field(ge=0, description="How many revisions it is after it.")]
    updatedBy: By
    updatedAt: Timestamp


class DraftList(TypedDict):
    """The saved drafts, those of the newest templates first."""

    items: list[DraftListItem]


type OwnText = Annotated[
    str | None, Field(description="The text part. Null makes one of the HTML at each send.")
]


class LocaleItem(TypedDict):
    """What a template has for one locale."""

    subject: str
    source: str
    text: OwnText


type Locales = Annotated[
    dict[str, LocaleItem], Field(description="By the language tag, in small letters.")
]


type KeepDays = Annotated[
    int,
    Field(
        ge=0,
        le=MAX_KEEP,
        description="For at most how many days to keep the content of its emails: never more than"
        " `keepDays` of the account.",
    ),
]


class DraftItem(DraftListItem):
    """A draft."""

    publishedVersion: Published
    source: str
    text: OwnText
    keepDays: KeepDays
    locales: Locales
    samples: Annotated[
        dict[str, dict[str, object]],
        Field(description="Values for previews, by the names of their sets."),
    ]


class VersionItem(TypedDict):
    """A version as listed."""

    version: Annotated[int, Field(ge=1)]
    published: Annotated[bool, Field(description="Whether sends use it.")]
    name: str
    subject: str
    category: str
    kind: SourceKind
    publishedBy: By
    publishedAt: Timestamp


class VersionList(TypedDict):
    """Versions, the newest first."""

    items: list[VersionItem]
    nextCursor: NextCursor


class VersionDetail(VersionItem):
    """A version with its source, and the HTML that was made of it."""

    source: str
    text: OwnText
    keepDays: KeepDays
    locales: Locales
    html: str


class VariableItem(TypedDict):
    """A path that the source refers to. `[]` marks a list: the rest applies to each entry."""

    path: Annotated[str, Field(examples=["order.lines[].price"])]
    line: Annotated[int | None, Field(description="Null if only the subject uses it.")]
    required: bool
    default: Annotated[object, Field(description="Null if there is none.")]
    type: Annotated[Literal["text", "list", "url"], Field(description="A guess from its use.")]


class ProblemItem(TypedDict):
    """Something that an author should know."""

    severity: Severity
    code: str
    message: str
    field: Annotated[str, Field(description="`source`, `subject`, `text` or `variables`.")]
    line: Annotated[int | None, Field(description="Of the source.")]
    suggestion: Annotated[str | None, Field(description="The nearest form that is allowed.")]


class PublishedItem(TypedDict):
    """The template that sends use from now on."""

    id: Uuid
    version: Annotated[int, Field(ge=1)]
    variables: list[str]
    locales: Annotated[list[str], Field(description="Those that it has beside the default.")]
    updatedAt: Timestamp
    problems: Annotated[
        list[ProblemItem],
        Field(
            description="`variable_not_sent` for each variable that it needs and that recent sends"
            " did not give."
        ),
    ]


class RenderedItem(TypedDict):
    """An email as a send would be, and what is wrong with its template."""

    subject: str
    html: Annotated[str | None, Field(description="Null if there is an error.")]
    text: Annotated[str | None, Field(description="The text part of the email.")]
    bytes: Annotated[int, Field(ge=0, description="Of the HTML in UTF-8.")]
    variables: list[VariableItem]
    problems: list[ProblemItem]
