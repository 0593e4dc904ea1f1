"""Read the requests of the template editor. They are ours: the contract has no shapes for them."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from pillarbox.application.templates.editing import DraftChanged, NewTemplate
from pillarbox.application.validation import MAX_NAME
from pillarbox.domain.accounts.account import MAX_KEEP
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.domain.messages.header_text import MAX_SUBJECT
from pillarbox.domain.templates.draft import (
    MAX_SOURCE,
    LocaleContent,
    SampleSets,
    Source,
    SourceKind,
    TemplateContent,
)
from pillarbox.http.json_body import canonical, depth_of
from pillarbox.http.messages.wire import LOCALE, LOCALE_PATTERN, MAX_VARIABLES_DEPTH, VARIABLES
from pillarbox.http.query import one_of
from pillarbox.http.requests import header_values
from pillarbox.http.templates.replies import DraftItem
from pillarbox.http.wire import (
    WireModel,
    after,
    invalid,
    json_object,
    model,
    models_by_name,
    optional,
    optional_or,
    read_body,
    required,
    text,
    text_in_bytes,
    uuid_text,
    whole_number,
)

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
    from pydantic_core.core_schema import ValidationInfo

#: In bytes of UTF-8: all sample sets of a template together.
MAX_SAMPLES: Final = 64 * 1024
MAX_SETS: Final = 20
MAX_LOCALES: Final = 30
MAX_VERSION: Final = 999_999_999
#: RFC 9110 section 13.1.1, and the number alone.
_REVISION: Final = re.compile(r'"?(0|[1-9][0-9]{0,8})"?')


def _check_samples(value: dict[str, Any]) -> dict[str, Any]:
    if len(value) > MAX_SETS:
        raise invalid("too_long", f"must have at most {MAX_SETS} sets")
    for name, values in value.items():
        if not 0 < len(name) <= MAX_NAME or not isinstance(values, dict):
            raise invalid("wrong_type", "must be objects of values by the names of the sets")
    if depth_of(value) > MAX_VARIABLES_DEPTH + 1:
        raise invalid("too_deep", f"must have at most {MAX_VARIABLES_DEPTH} levels in each set")
    if len(canonical(value)) > MAX_SAMPLES:
        raise invalid("too_large", f"must not be larger than {MAX_SAMPLES} bytes as JSON")
    return value


def _check_one_source(html: str | None, info: "ValidationInfo") -> str | None:
    if html is not None and info.data.get("starter_template") is not None:
        raise invalid("incomplete", "give either starterTemplate or html")
    return html


_KIND: Final = one_of(SourceKind)
_NAME: Final = text(least=1, most=MAX_NAME)
_SOURCE: Final = text_in_bytes(MAX_SOURCE)
LOCALE_NAME: Final = after(LOCALE, str.lower)


class LocaleModel(WireModel):
    """What a template has for one locale."""

    subject = required(text(most=MAX_SUBJECT))
    """Text with plain references."""
    source = required(_SOURCE, maxLength=MAX_SOURCE)
    """The body, in the language of `kind`."""
    own_text = optional(_SOURCE, name="text", maxLength=MAX_SOURCE)
    """The text part, with plain references."""

    def to_domain(self) -> LocaleContent:
        """Return it as a domain object; an empty text part is none."""
        return LocaleContent(subject=self.subject, source=self.source, text=self.own_text or None)


class CreateTemplateRequest(WireModel):
    """A new template, with a starter, some HTML or a few words as its draft."""

    name = required(_NAME)
    """For people."""
    category = required(_NAME)
    """A label for sorting."""
    starter_template = optional(text(least=1, most=MAX_NAME), named="StarterSlug")
    """The starter to begin with."""
    html = optional(_SOURCE, check=_check_one_source, maxLength=MAX_SOURCE)
    """HTML to begin with."""


class SaveDraftRequest(WireModel):
    """A whole draft."""

    name = required(_NAME)
    """For people."""
    subject = required(text(most=MAX_SUBJECT))
    """Text with plain references such as `{{ name }}`."""
    category = required(_NAME)
    """A label for sorting."""
    kind = required(_KIND)
    """The language of `source`."""
    source = required(_SOURCE, maxLength=MAX_SOURCE)
    """The body. It may have faults until it is published."""
    own_text = optional(_SOURCE, name="text", maxLength=MAX_SOURCE)
    """The text part, with plain references as in the subject. An empty one removes it; without the
    field it stays."""
    keep_days = optional(whole_number(least=0, most=MAX_KEEP))
    """For at most how many days to keep the content of its emails: never more than `keepDays` of
    the account. 90 is no limit of its own. Without the field they stay."""
    locales = optional(
        models_by_name(LOCALE_NAME, LocaleModel, most=MAX_LOCALES), named="TemplateLocales"
    )
    """Without the field they stay. A send with the locale `de-CH` takes `de-CH`, else `de`, else
    the fields above."""
    samples = optional_or(after(json_object(), _check_samples), {}, named="Samples")


class RestoreVersionRequest(WireModel):
    """The version that becomes the draft."""

    version = required(whole_number(least=1, most=MAX_VERSION))
    """The number of the version."""


class RenderTemplateRequest(WireModel):
    """A source and values."""

    kind = required(_KIND)
    """The language of `source`."""
    subject = required(text(most=MAX_SUBJECT))
    """Text with plain references."""
    source = required(_SOURCE, maxLength=MAX_SOURCE)
    """The body."""
    own_text = optional(_SOURCE, name="text", maxLength=MAX_SOURCE)
    """The text part, with plain references."""
    default = optional(model(LocaleModel))
    """If this is for a locale, the template without one: variables that only one of the two has are
    problems."""
    variables = optional(VARIABLES, named="Variables")
    """The values to show: at most 256 KB and 8 levels."""
    template_id = optional(uuid_text(), format="uuid")
    """The template whose recent sends to compare with what the source needs."""

    def to_domain(self) -> Source:
        return Source(
            kind=self.kind,
            subject=self.subject,
            source=self.source,
            text=self.own_text or None,
            default=self.default.to_domain() if self.default else None,
        )


class TestTemplateRequest(WireModel):
    """The recipient and the values of a test."""

    #: pytest would collect a class of this name.
    __test__ = False

    to = required(text(least=1, most=1_016), format="email")
    """The address of a member of the account."""
    locale = optional(LOCALE, pattern=LOCALE_PATTERN)
    """The locale of the draft to send, as in a send."""
    variables = optional(VARIABLES, named="Variables")
    """The values to send: at most 256 KB and 8 levels."""


def read_new_template(event: "APIGatewayProxyEvent") -> NewTemplate:
    body = read_body(event, CreateTemplateRequest)
    return NewTemplate(
        name=body.name, category=body.category, starter=body.starter_template, html=body.html
    )


def read_draft(
    event: "APIGatewayProxyEvent",
) -> tuple[Callable[[TemplateContent], TemplateContent], SampleSets]:
    """Read a change of a draft's content, and its samples.

    Text part, days and locales stay as they are if the request has none.
    """
    body = read_body(event, SaveDraftRequest)

    def change(content: TemplateContent) -> TemplateContent:
        locales = body.locales
        return TemplateContent(
            name=body.name,
            subject=body.subject,
            category=body.category,
            kind=body.kind,
            source=body.source,
            text=content.text if body.own_text is None else body.own_text or None,
            keep=content.keep if body.keep_days is None else body.keep_days,
            locales=content.locales
            if locales is None
            else {name: part.to_domain() for name, part in locales.items()},
        )

    return change, body.samples


def read_revision(event: "APIGatewayProxyEvent") -> int:
    """Read the revision that a request replaces or publishes, from If-Match."""
    values = header_values(event, "if-match")
    found = _REVISION.fullmatch(values[0].strip()) if len(values) == 1 else None
    if found is None:
        message = 'must be the revision of the draft, such as "3"'
        raise ValidationFailed(FieldError("If-Match", message, "invalid_header"))
    return int(found[1])


def read_version(number: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,8}", number, re.ASCII):
        raise ValidationFailed(FieldError("version", "must be a whole number", "wrong_type"))
    return int(number)


@contextmanager
def showing_conflicts() -> Iterator[None]:
    """Put the stored draft into the error of a conflict, so that a client can show both."""
    try:
        yield
    except DraftChanged as conflict:
        raise ServiceError(
            conflict.code,
            conflict.message,
            details={"revision": conflict.revision, "draft": DraftItem.of(conflict.state)},
        ) from conflict
