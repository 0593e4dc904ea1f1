"""The work on a saved template: its draft, and the versions that were published."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from pillarbox.domain.accounts.account import MAX_KEEP
from pillarbox.domain.errors import FieldError, Json, ValidationFailed
from pillarbox.domain.templates.template import nearest_locale

#: In bytes of UTF-8. A version holds the source and its HTML, compressed, in one item of DynamoDB,
#: which has 400 KB at most.
MAX_SOURCE: Final = 256 * 1024

#: Values for previews, by the name of the set.
type SampleSets = Mapping[str, Mapping[str, Json]]


class SourceKind(StrEnum):
    """The languages in which an author writes a body."""

    HTML = "html"
    MJML = "mjml"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocaleContent:
    """What an author writes for one locale; `text` is the text part, None to make it of the HTML.

    The text part has plain references only, as the subject.
    """

    subject: str
    source: str
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What an author writes, and wants to be shown."""

    kind: SourceKind
    subject: str
    source: str
    text: str | None = None
    #: The content without a locale, if this is that of a locale: both have the same variables.
    default: LocaleContent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateContent:
    """What an author writes: `source` is the body as written."""

    name: str
    subject: str
    category: str
    kind: SourceKind
    source: str
    text: str | None = None
    #: For at most how many days to keep the content of its emails.
    keep: int = MAX_KEEP
    #: By the locale, in small letters. The content above is for every other locale.
    locales: Mapping[str, LocaleContent] = field(default_factory=dict)

    def in_locale(self, locale: str | None) -> "TemplateContent":
        """Return the content for a locale: the nearest one that there is."""
        found = nearest_locale(self.locales, locale)
        if found is None:
            return self
        part = self.locales[found]
        return replace(self, subject=part.subject, source=part.source, text=part.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateDraft:
    """The unpublished work on a template. Each change makes a new revision."""

    account_id: str
    template_id: str
    content: TemplateContent
    samples: SampleSets = field(default_factory=dict)
    #: 0 if the draft has not changed since a release without drafts made the template.
    revision: int
    #: Who changed it: an address, or the operator's command.
    by: str
    at: datetime
    #: The version that was last published from it or that it was made from, 0 if there is none.
    version: int = 0
    #: The revision that has the content of that version.
    version_revision: int = 0

    @property
    def changed(self) -> bool:
        """Whether the draft differs from its version."""
        return not self.version or self.revision != self.version_revision


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateVersion:
    """What was published once. It never changes."""

    account_id: str
    template_id: str
    version: int
    content: TemplateContent
    html: str
    by: str
    at: datetime


def check_source_size(source: str) -> None:
    """Check the size of what an author wrote: drafts, previews, tests and publications alike."""
    if len(source) > MAX_SOURCE or len(source.encode()) > MAX_SOURCE:
        message = f"must not be larger than {MAX_SOURCE} bytes"
        raise ValidationFailed(FieldError("html", message, "too_large"))
