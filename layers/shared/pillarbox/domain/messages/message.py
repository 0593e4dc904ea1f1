"""Messages and their states: the events of an email, and the status that follows from them.

The state of a message is a pure function of the set of its events. So it does
not depend on their order, and a repeated event changes nothing.

The contract has no tags. The names have the alphabet of SES and of most peers.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from pillarbox.domain.address import distinct_mailboxes, mailbox_key
from pillarbox.domain.errors import cut
from pillarbox.domain.messages.bounce_codes import BOUNCE_MEANINGS
from pillarbox.domain.messages.header_text import is_header_safe, is_visible

if TYPE_CHECKING:
    from pillarbox.domain.messages.schedule import Schedule

MAX_TAGS: Final = 5
#: In characters.
MAX_VALUE: Final = 64
#: In octets of UTF-8: all names and values, so that a record stays within one write unit.
MAX_TAGS_BYTES: Final = 256
TAG_NAME: Final = "^[A-Za-z0-9_-]{1,32}$"

_NAME: Final = TAG_NAME

type Tags = Mapping[str, str]


class TagError(Exception):
    """A tag, or all of them together, cannot be used; the text says why."""


def check_tags(tags: Tags) -> None:
    """Check the names and values of an email's tags, and their number and size."""
    if len(tags) > MAX_TAGS:
        raise TagError(f"must not have more than {MAX_TAGS} tags")
    for name, value in tags.items():
        if not re.fullmatch(_NAME, name):
            raise TagError("must have names of 1 to 32 letters, digits, hyphens and underscores")
        if not _is_value(value):
            raise TagError(
                f"must have values of 1 to {MAX_VALUE} visible characters, without a blank at"
                " either end"
            )
    if sum(len(text.encode()) for tag in tags.items() for text in tag) > MAX_TAGS_BYTES:
        raise TagError(f"must not be larger than {MAX_TAGS_BYTES} bytes in all")


def _is_value(text: str) -> bool:
    return (
        0 < len(text) <= MAX_VALUE
        and text == text.strip()
        and is_header_safe(text)
        and is_visible(text)
    )


class Status(StrEnum):
    """The statuses of the contract (section 2.5)."""

    PENDING = "pending"
    SENT = "sent"
    DELIVERED = "delivered"
    BOUNCED = "bounced"
    COMPLAINED = "complained"
    FAILED = "failed"


class EventKind(StrEnum):
    """What can happen to a message or to one of its recipients."""

    DELAYED = "delayed"
    ACCEPTED = "accepted"
    UNCERTAIN = "uncertain"
    SENT = "sent"
    FAILED = "failed"
    BOUNCED_TRANSIENT = "bounced_transient"
    DELIVERED = "delivered"
    BOUNCED = "bounced"
    COMPLAINED = "complained"

    @property
    def rank(self) -> int:
        """How final the event is. The event with the highest rank decides the status."""
        return _RANKS[self]

    @property
    def status(self) -> Status:
        """The message's status while this event has the highest rank."""
        return _STATUSES[self]


_RANKS: Final = {
    EventKind.DELAYED: 0,
    EventKind.ACCEPTED: 10,
    EventKind.UNCERTAIN: 15,
    EventKind.SENT: 20,
    EventKind.FAILED: 30,
    EventKind.BOUNCED_TRANSIENT: 40,
    EventKind.DELIVERED: 50,
    EventKind.BOUNCED: 60,
    EventKind.COMPLAINED: 70,
}
_STATUSES: Final = {
    EventKind.DELAYED: Status.PENDING,
    EventKind.ACCEPTED: Status.PENDING,
    EventKind.UNCERTAIN: Status.FAILED,
    EventKind.SENT: Status.SENT,
    EventKind.FAILED: Status.FAILED,
    EventKind.BOUNCED_TRANSIENT: Status.BOUNCED,
    EventKind.DELIVERED: Status.DELIVERED,
    EventKind.BOUNCED: Status.BOUNCED,
    EventKind.COMPLAINED: Status.COMPLAINED,
}


#: What our own codes mean; the codes of providers and remote servers explain themselves.
MEANINGS: Final = {
    **BOUNCE_MEANINGS,
    "abuse": "The recipient reported the email as spam.",
    "account_suspended": "The account was suspended when the email was due.",
    "building_failed": "The email could not be built: each try failed, or took too much memory or"
    " time.",
    "canceled": "The email was canceled before it was due.",
    "delivery_uncertain": "The provider did not answer. The email may or may not have been sent.",
    "dropped": "The operator of the service removed the email from the queue.",
    "expired": "The email could not be sent in time.",
    "general": "The recipient's server refused the email without a status code.",
    "key_revoked": "The API key no longer worked when the email was due.",
    "message_rejected": "Amazon SES refused the email.",
    "not_released": "Nobody released the email within 7 days.",
    "payload_gone": "The content of the email has expired.",
    "recipient_suppressed": "The recipient bounced or complained while the email was queued.",
    "recipient_erased": "The recipient was erased while the email was queued.",
    "rejected": "The provider refused the content of the email.",
    "rendering_failed": "The email could not be rendered from its template.",
    "sender_not_verified": "The sender was no longer verified when the email was due.",
    "sending_paused": "Sending was paused while the email was queued, and it waited for too long.",
    "suppressed_by_ses": "Amazon SES did not send the email because the address was on a"
    " suppression list of its own. The reason of the email's event says whether it is free now.",
    "unreadable_job": "The email could not be read from the queue.",
}

#: The code of a message that somebody canceled.
CANCELED: Final = "canceled"

#: The codes of messages that their account called off before they were handed over. That is no
#: error.
CALLED_OFF: Final = frozenset({CANCELED, "key_revoked", "not_released"})

#: Stands for the address of a recipient who was erased. No email goes to .invalid (RFC 6761
#: section 6.4).
ERASED_ADDRESS: Final = "erased@recipient.invalid"

#: The code of an event if SES did not send the email because of a suppression list of its own.
SUPPRESSED_BY_SES: Final = "suppressed_by_ses"

#: What is kept of a provider's code and of its reason, in octets of UTF-8.
MAX_CODE: Final = 100
MAX_REASON: Final = 500
#: How long an acceptor may stall at most. Tombstones stay so long, and so do spooled bodies and
#: waiting contents without a record.
STALL_TIME: Final = timedelta(hours=48)

#: The kind of a diagnostic code before its text (RFC 3464 section 2.3.6).
_DIAGNOSTIC_TYPE: Final = r"(?ai)\A\s*smtp\s*;\s*(?=\S)"


def plain_reason(reason: str) -> str:
    """Return a remote server's text without the prefix `smtp;`, which tells people nothing."""
    return re.sub(_DIAGNOSTIC_TYPE, "", reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event of one recipient, or of the whole message if `recipient` is None.

    `code` is stable and short (`mailbox_full`, `delivery_uncertain`). `reason`
    is the text of the provider or the remote server.
    """

    kind: EventKind
    at: datetime
    recipient: str | None = None
    code: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A worker's right to hand over one message to the provider."""

    owner: str
    taken_at: datetime
    expires_at: datetime


class SendRoute(StrEnum):
    """The ways in which a message can be accepted."""

    HTTP = "http"
    BATCH = "batch"
    SMTP = "smtp"
    MCP = "mcp"
    #: The service itself wrote it, to the owner of the account.
    NOTICE = "notice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What the sender says about a message, to find it again: it is only stored and shown.

    Each field has a default, and a type that DynamoDB has too.
    """

    tags: Tags = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageOrigin:
    """Where a message came from; what does not apply is None.

    `template_version` counts the changes of the saved template. `request_id` is the id that the
    response and the log lines of the HTTP request have; a message over SMTP has none.
    """

    route: SendRoute | None = None
    key_id: str | None = None
    starter_template: str | None = None
    template_id: str | None = None
    template_version: int | None = None
    #: Which variables a send by a saved template gave, without their values (`templates.shape`).
    shape: str | None = None
    request_id: str | None = None
    labels: Labels = Labels()
    #: What the request asked for: the time at which to send the message, or to hold it.
    scheduled_at: datetime | None = None
    held: bool = False
    #: The id of the message whose content it repeats.
    resend_of: UUID | None = None
    #: Whether only an owner of the account may release it: its key is that of an agent.
    for_owner: bool = False

    @property
    def template(self) -> str | None:
        """The id of its saved template, or the slug of its starter template."""
        return self.template_id or self.starter_template


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """The record of an accepted email: addresses, subject and events, but never the body."""

    account_id: str
    message_id: UUID
    created_at: datetime
    body_hash: str
    subject: str
    sender: str
    from_name: str | None
    to: tuple[str, ...]
    cc: tuple[str, ...]
    bcc: tuple[str, ...]
    origin: MessageOrigin = MessageOrigin()
    events: tuple[Event, ...] = ()
    provider_message_id: str | None = None
    lease: Lease | None = None
    attempt: int = 0
    #: How many processes of their own died while they built it.
    deaths: int = 0
    #: Counts the changes. A change is only written if the stored revision is the one it
    #: started from.
    revision: int = 0
    #: When to send it; None as soon as possible.
    schedule: "Schedule | None" = None
    #: Whether the account had suppressions of erased people when it accepted the message, so that
    #: the worker looks for them too.
    hashed_suppressions: bool = False
    #: Whether its events are announced to webhook endpoints: the account had one when it accepted
    #: the message, or may have one until it is due.
    announced: bool = False
    #: For how many days to keep the content after the hand-over; 0: not at all.
    keep: int = 0
    #: Whether it could not be kept, and so cannot be read. A part may be there.
    unkept: bool = False

    @property
    def decisive(self) -> Event | None:
        """The event that decides the status: the earliest of those with the highest rank."""
        ranked = (event for event in self.events if event.kind is not EventKind.DELAYED)
        return min(ranked, key=_decisiveness, default=None)

    @property
    def rank(self) -> int:
        """The rank of the decisive event, or the rank of acceptance if there is no such event."""
        return self.decisive.kind.rank if self.decisive else EventKind.ACCEPTED.rank

    @property
    def status(self) -> Status:
        """The status in the contract's terms."""
        return self.decisive.kind.status if self.decisive else Status.PENDING

    @property
    def pending(self) -> bool:
        """Whether no event has decided the status yet. A delay decides nothing."""
        return self.status is Status.PENDING

    @property
    def is_free(self) -> bool:
        """Whether it is pending, and no worker has it or has handed it over."""
        return self.pending and self.lease is None and self.provider_message_id is None

    @property
    def waits(self) -> bool:
        """Whether it can still be canceled."""
        return self.schedule is not None and self.is_free

    @property
    def held(self) -> bool:
        """Whether it waits until somebody releases it."""
        return self.pending and self.schedule is not None and self.schedule.held

    @property
    def awaits_owner(self) -> bool:
        """Whether it waits until an owner of the account releases it."""
        return self.origin.for_owner and self.held

    @property
    def canceled_at(self) -> datetime | None:
        """When it was canceled, if it was."""
        canceled = (event.at for event in self.events if event.code == CANCELED)
        return next(canceled, None)

    @property
    def error(self) -> Event | None:
        """The decisive event if it is a failure, otherwise None."""
        has_failed = self.status in {Status.FAILED, Status.BOUNCED, Status.COMPLAINED}
        return self.decisive if has_failed else None

    @property
    def updated_at(self) -> datetime:
        """The time of the latest event in the record, or of creation if that is later."""
        return max([self.created_at, *(event.at for event in self.events)])

    @property
    def due_at(self) -> datetime:
        """When it was to be sent: at its time or release, otherwise at once."""
        schedule = self.schedule
        return schedule.due_at if schedule and not schedule.held else self.created_at

    def message_id_header(self, region: str) -> str | None:
        """Return the Message-ID that recipients see, or None until the provider took the message.

        SES replaces the one that a message has (Amazon SES developer guide, "Header fields").
        """
        if self.provider_message_id is None:
            return None
        host = "email" if region == "us-east-1" else region
        return f"<{self.provider_message_id}@{host}.amazonses.com>"

    @property
    def recipients(self) -> tuple[str, ...]:
        """Every mailbox once, in the order of the request: the envelope."""
        return distinct_mailboxes(self.to + self.cc + self.bcc)

    @property
    def is_erased(self) -> bool:
        """Whether a recipient was erased."""
        return ERASED_ADDRESS in (*self.to, *self.cc, *self.bcc)

    def has_recipient(self, address: str) -> bool:
        """Return whether an address is one of the recipients; its case does not matter."""
        return mailbox_key(address) in map(mailbox_key, self.recipients)

    def recipient_of(self, address: str) -> str | None:
        """Return the recipient whom a report about an address is about, as the message spells it.

        The recipient's server writes the report, and can name anybody. An address that is none of
        the recipients stands for an erased one or the only one; else it says nothing.
        """
        mailbox = mailbox_key(address)
        for recipient in self.recipients:
            if mailbox_key(recipient) == mailbox:
                return recipient
        if self.is_erased:
            return ERASED_ADDRESS
        return self.recipients[0] if len(self.recipients) == 1 else None

    def with_events(
        self, events: Iterable[Event], provider_message_id: str | None = None
    ) -> "Message":
        """Return the message with more events, or the same object if they change nothing.

        Keep one event per kind and recipient, so that the record stays small.
        Keep the latest, so that the update time does not go back. The exception is
        `sent`: keep the earliest. That is the worker's own event, and so the later
        Send event from SES needs no write.

        Others write some of the texts. Of an event the record keeps a recipient of its own, and
        few octets, so that it fits into an item of the table.
        If a recipient was erased, no event brings a provider's text back.
        """
        kept = {(event.kind, event.recipient): event for event in self.events}
        for event in map(self._bounded, events):
            current = kept.get((event.kind, event.recipient))
            if current is None or _supersedes(event, current):
                kept[event.kind, event.recipient] = event
        merged = tuple(sorted(kept.values(), key=_chronology))
        provider_id = self.provider_message_id or provider_message_id
        if merged == self.events and provider_id == self.provider_message_id:
            return self
        return replace(
            self,
            events=merged,
            provider_message_id=provider_id,
        )

    def _bounded(self, event: Event) -> Event:
        """Return an event as the record keeps it: these fields, and no others."""
        shown = not self.is_erased or event.reason in MEANINGS.values()
        return Event(
            kind=event.kind,
            at=event.at,
            recipient=event.recipient and self.recipient_of(event.recipient),
            code=event.code and cut(event.code, MAX_CODE),
            reason=cut(event.reason, MAX_REASON) if event.reason and shown else None,
        )


def _decisiveness(event: Event) -> tuple[int, datetime]:
    return (-event.kind.rank, event.at)


def _chronology(event: Event) -> tuple[datetime, int, str]:
    return (event.at, event.kind.rank, event.recipient or "")


def _supersedes(event: Event, current: Event) -> bool:
    order = (event.at, event.code or "", event.reason or "")
    current_order = (current.at, current.code or "", current.reason or "")
    return order < current_order if event.kind is EventKind.SENT else order > current_order
