"""Templates: the built-in starters (contract 2.6) and those an account saved (2.7)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from pillarbox.domain.errors import Json


class VariableKind(StrEnum):
    """What a starter's variable may hold; each kind has its own check."""

    TEXT = "text"
    #: An address to follow: https: or http: only.
    WEB_URL = "web_url"
    #: Where help is found: a bare mail address, or an https:, http: or mailto: URL.
    CONTACT = "contact"


@dataclass(frozen=True, slots=True)
class StarterVariable:
    """A variable of a starter template, with the sample that previews use."""

    name: str
    sample: str
    kind: VariableKind = VariableKind.TEXT
    #: The mail is useless without it: lacking, the send is refused (422).
    required: bool = True


@dataclass(frozen=True, slots=True)
class StarterTemplate:
    """A built-in template. `subject` holds plain references such as {{ app_name }} only."""

    slug: str
    name: str
    description: str
    subject: str
    variables: tuple[StarterVariable, ...]
    #: Used for `expiry_minutes` when the caller leaves it out, and for the
    #: deadline of a delivery; None where nothing in the mail expires.
    expiry_minutes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTemplate:
    """A template of an account. `variables` are the names that it really references."""

    account_id: str
    template_id: str
    name: str
    subject: str
    category: str
    html: str
    variables: tuple[str, ...]
    #: Those without a `default` in every use: lacking, the send is refused (422).
    required: tuple[str, ...]
    #: An internal copy, made for a campaign or workflow: never listed.
    internal: bool
    created_at: datetime
    updated_at: datetime
    #: Active campaigns and scheduled sends that hold the deletion back.
    references: frozenset[str] = field(default_factory=frozenset)


_REFERENCE: Final = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)\s*\}\}")


def subject_references(subject: str) -> tuple[str, ...]:
    """The dotted paths that a subject refers to, in order."""
    return tuple(_REFERENCE.findall(subject))


def fill_subject(subject: str, values: Mapping[str, Json]) -> str:
    """Put values into a subject in one pass, as plain text on one line.

    Subjects take plain references only, so that accepting a mail needs no
    template engine. A path that leads nowhere becomes empty.
    """

    def value(match: re.Match[str]) -> str:
        found: Json = dict(values)
        for step in match.group(1).split("."):
            found = found.get(step) if isinstance(found, dict) else None
        return "" if found is None else str(found)

    return " ".join(_REFERENCE.sub(value, subject).split())
