"""An email that the SES stand-in keeps, with what became of it for each recipient."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

type Outcome = Literal[
    "delivered",
    "opened",
    "clicked",
    "subscription changed",
    "bounced",
    "bounced for now",
    "complained",
    "auto-replied",
    "delayed",
    "globally suppressed",
    "suppressed",
    "suppressed after complaint",
    "rejected",
    "not rendered",
    "refused",
]


@dataclass(frozen=True, slots=True)
class Destination:
    """The recipients of the envelope, by the lists of SendEmail."""

    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()

    @property
    def addresses(self) -> tuple[str, ...]:
        return self.to + self.cc + self.bcc


@dataclass(frozen=True, eq=False)
class CapturedMail:
    """A mail with its envelope and the outcome for each recipient."""

    id: str  # the provider message id, which SendEmail returned if it accepted the mail
    source: str  # FromEmailAddress, or else the From header
    destination: Destination
    configuration_set: str | None
    tags: Mapping[str, str]
    headers: tuple[tuple[str, str], ...]  # as SendEmail got them, unfolded
    from_header: str  # decoded
    subject: str  # decoded
    raw: bytes = field(repr=False)  # as recipients get it
    outcomes: Mapping[str, Outcome]  # by recipient
    received_at: datetime
    refusal: str | None = None  # why SES did not accept it
    tenant: str | None = None


def timestamp(at: datetime) -> str:
    """Return a time in the format of SES: ISO 8601 with milliseconds and a Z."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
