"""Templates: the built-in starters (contract 2.6) and saved templates (contract 2.7)."""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from pillarbox.domain.accounts.account import MAX_KEEP
from pillarbox.domain.errors import FieldError, Json, ServiceError, ValidationFailed
from pillarbox.domain.messages.header_text import MAX_SUBJECT

if TYPE_CHECKING:
    from pillarbox.domain.templates.locales import LocaleVariant


class VariableKind(StrEnum):
    """The kind of value that a starter variable takes; each kind has its own check."""

    TEXT = "text"
    #: A link: https: or http: only.
    WEB_URL = "web_url"
    #: A contact for help: a bare email address, or an https:, http: or mailto: URL.
    CONTACT = "contact"
    #: The lines of a receipt or list: texts, or objects with `description` and `amount`.
    LINES = "lines"


@dataclass(frozen=True, slots=True)
class StarterVariable:
    """A variable of a starter template, with its sample value for previews."""

    name: str
    sample: str
    kind: VariableKind = VariableKind.TEXT
    #: The email makes no sense without the variable, so a send without it is refused (422).
    required: bool = True


@dataclass(frozen=True, slots=True)
class StarterTemplate:
    """A built-in template. `subject` contains only plain references such as {{ app_name }}."""

    slug: str
    name: str
    description: str
    subject: str
    #: Those of the contract (2.6).
    variables: tuple[StarterVariable, ...]
    #: What the email leaves out if neither the request nor the brand has it.
    optional: tuple[StarterVariable, ...] = ()
    #: The default of the variable `expiry_minutes`, if there is one, and of the deadline of the
    #: delivery.
    #: None if nothing in the email expires.
    expiry_minutes: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.variables)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderValues:
    """What a preview of a starter shows instead of its samples and the account's brand."""

    variables: Mapping[str, Json] = field(default_factory=dict)
    brand_name: str | None = None
    logo_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTemplate:
    """A template that an account saved. `variables` are the names that its source refers to."""

    account_id: str
    template_id: str
    name: str
    subject: str
    category: str
    html: str
    variables: tuple[str, ...]
    #: Variables that have no `default` in some use: a send without one is refused (422).
    required: tuple[str, ...]
    #: Whether this is a copy for a campaign or workflow. The API does not show such copies.
    internal: bool
    #: The text part, with plain references; None to make it of the HTML.
    text: str | None = None
    #: What replaces subject, HTML and text for a locale, by its name in small letters.
    locales: "Mapping[str, LocaleVariant]" = field(default_factory=dict)
    #: For at most how many days to keep the content of its emails.
    keep: int = MAX_KEEP
    #: 1 for a new template; each change adds one.
    version: int = 1
    created_at: datetime
    updated_at: datetime
    #: The active campaigns and scheduled sends that use the template. It cannot be deleted
    #: while there are any.
    references: frozenset[str] = field(default_factory=frozenset)

    def in_locale(self, locale: str | None) -> "SavedTemplate":
        """Return the template as it is in a locale: in the nearest one that it has."""
        found = nearest_locale(self.locales, locale)
        if found is None:
            return self
        part = self.locales[found]
        return replace(
            self, subject=part.subject, html=part.html, text=part.text, required=part.required
        )


def nearest_locale(locales: Container[str], locale: str | None) -> str | None:
    """Return the name of the locale itself, or of the nearest one above it (RFC 4647 section 3.4).

    None stands for the default: `de-CH`, then `de`, then the default.
    """
    name = (locale or "").lower()
    while name and name not in locales:
        name = name.rpartition("-")[0]
    return name or None


#: What is wrong with a variable that has no value.
MISSING_VALUE: Final = "the template needs this value"


def unknown_template() -> ServiceError:
    """Return the error for an unknown id, and for that of another account's template."""
    return ServiceError("template_not_found", "The account has no saved template with this id.")


_REFERENCE: Final = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)\s*\}\}")


def subject_references(subject: str) -> tuple[str, ...]:
    """Return the dotted paths that a subject refers to, in order."""
    return tuple(_REFERENCE.findall(subject))


def fill_subject(subject: str, values: Mapping[str, Json]) -> str:
    """Replace the references in a subject with values, as plain text on one line.

    Values are not searched for references. A path without a value becomes empty. A value
    is cut where the subject is too long already, because a subject may repeat it 200
    times. Subjects allow only plain references, so accepting an email needs no template
    engine.
    """
    texts = {path: _one_line(values, path) for path in set(subject_references(subject))}
    filled = _REFERENCE.sub(lambda match: texts[match.group(1)], subject)
    return " ".join(filled.split())


def fill_text(text: str, values: Mapping[str, Json], most: int) -> str | None:
    """Replace the references in a text part with values; None if it becomes too large.

    Args:
        text: with plain references, as a subject.
        values: they are not searched for references. A path without a value becomes empty.
        most: how many octets of UTF-8 the result may have.
    """
    paths = subject_references(text)
    texts = {path: _value(values, path) for path in set(paths)}
    if _octets(text, paths, texts) > most:
        return None
    return _REFERENCE.sub(lambda match: texts[match.group(1)], text)


def _octets(text: str, paths: Iterable[str], texts: Mapping[str, str]) -> int:
    """Return how large a text is with the texts that its references stand for."""
    sizes = {path: len(each.encode()) for path, each in texts.items()}
    return len(text.encode()) + sum(sizes.get(path, 0) for path in paths)


#: What HTML needs as references (HTML standard, 13.3).
_ESCAPES: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"}
)


def fill_given(
    text: str, values: Mapping[str, Json], most: int, *, escape: bool = False
) -> str | None:
    """Replace those references in a text that have a value; None if it becomes too large.

    Everything else of the text stays as it is. Values are not searched for references.
    """
    paths, texts = subject_references(text), dict[str, str]()
    for path in dict.fromkeys(paths):
        value = _find(values, path)
        if isinstance(value, dict | list):
            message = "must be text or a number, which takes the place of its name"
            raise ValidationFailed(FieldError(f"variables.{path}", message, "invalid_type"))
        if value is not None:
            texts[path] = str(value).translate(_ESCAPES) if escape else str(value)
    if _octets(text, paths, texts) > most:
        return None
    return _REFERENCE.sub(lambda match: texts.get(match[1], match[0]), text)


def _find(values: Mapping[str, Json], path: str) -> Json:
    first, *rest = path.split(".")
    node = values.get(first)
    for step in rest:
        node = node.get(step) if isinstance(node, dict) else None
    return node


def _value(values: Mapping[str, Json], path: str) -> str:
    node = _find(values, path)
    return "" if node is None else str(node)


def _one_line(values: Mapping[str, Json], path: str) -> str:
    text = _value(values, path)
    # A blank at each end may be removed from the subject.
    return re.sub(r"\s+", " ", text)[: MAX_SUBJECT + 3]
