"""Alerts: what the owners of an account may want to hear of, and how they hear of it."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from urllib.parse import urlsplit

from pillarbox.domain.timing import milliseconds


class AlertKind(StrEnum):
    """What an alert is about. Owners may turn each off."""

    #: Emails bounce or bring complaints, so that the breaker warns, brakes or stops.
    SENDING = "sending"
    #: A key sends far more than usual.
    VOLUME = "volume"
    #: The provider no longer sends for a domain.
    DOMAIN = "domain"
    #: Most of a quota is used.
    QUOTA = "quota"
    #: A webhook endpoint fails, is disabled, or does not keep up.
    ENDPOINT = "endpoint"
    #: An agent's email waits for an owner.
    AGENT = "agent"
    #: A key was not used for long.
    UNUSED_KEY = "unused_key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One thing that happened. Two of one kind, name and time are the same.

    `kind` is None for a test that an owner asked for.
    """

    kind: AlertKind | None
    name: str
    at: datetime
    title: str
    paragraphs: Sequence[str]
    #: What it is about, such as an endpoint, in one line.
    about: str
    #: The page of the dashboard where an owner must do something.
    url: str | None = None

    @property
    def alert_id(self) -> str:
        """Return what the same alert always has."""
        text = f"{self.kind} {self.name} {milliseconds(self.at)}"
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class StoredAlert:
    """An alert since it was raised. `told_at` is when the owners were told, or did not want it."""

    alert: Alert
    raised_at: datetime
    told_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertSettings:
    """How the owners of an account hear of alerts: all by email, unless they choose otherwise.

    `chat_url` is the incoming webhook of a room in Slack, Teams or the like. Anyone who knows it
    can post there, so it is a secret.
    """

    mail: bool = True
    off: frozenset[AlertKind] = frozenset()
    chat_url: str | None = field(default=None, repr=False)

    @property
    def chat(self) -> str | None:
        """Return what of the URL may be shown: its host and the last four characters."""
        if self.chat_url is None:
            return None
        return f"{urlsplit(self.chat_url).hostname}/…{self.chat_url[-4:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertChanges:
    """Changes to the settings. None leaves one unchanged, and an empty URL removes the chat."""

    mail: bool | None = None
    off: Collection[AlertKind] | None = None
    chat_url: str | None = None


@dataclass(frozen=True, slots=True)
class ChatState:
    """When an alert was last posted to the account's chat; `error` says why it failed."""

    at: datetime
    error: str | None = None


@dataclass(frozen=True, slots=True)
class AlertPost:
    """The task to post a text to an account's chat. `attempts` is how often that failed."""

    account_id: str
    text: str
    attempts: int = 0
