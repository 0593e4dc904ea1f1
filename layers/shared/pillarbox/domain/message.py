"""Messages and their states: what happened to a mail, and which status that makes.

The outcome of a message is a pure function of the set of events it has taken,
so it cannot depend on the order in which they came, nor on repetition.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID


class Status(StrEnum):
    """The statuses that the contract shows (section 2.5)."""

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
        """How final the event is: of several, the highest decides the status."""
        return _RANKS[self]

    @property
    def status(self) -> Status:
        """The status that is shown while this is the highest event."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened: to one recipient, or to the whole message (None).

    `code` is stable and short (`mailbox_full`, `delivery_uncertain`); `reason`
    is what the provider or the remote server said.
    """

    kind: EventKind
    at: datetime
    recipient: str | None = None
    code: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A worker's right to hand a message to the provider."""

    owner: str
    taken_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """The record of an accepted mail: who, what about, and what happened; never the body."""

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
    events: tuple[Event, ...] = ()
    provider_message_id: str | None = None
    lease: Lease | None = None
    attempt: int = 0
    #: Counts the changes: a change is written only over the one it was made from.
    revision: int = 0

    @property
    def decisive(self) -> Event | None:
        """The event that decides the status: the highest rank, of those the first."""
        ranked = (event for event in self.events if event.kind is not EventKind.DELAYED)
        return min(ranked, key=_decisiveness, default=None)

    @property
    def rank(self) -> int:
        """The rank of the decisive event; that of acceptance while there is none."""
        return self.decisive.kind.rank if self.decisive else EventKind.ACCEPTED.rank

    @property
    def status(self) -> Status:
        """The status as the contract shows it."""
        return self.decisive.kind.status if self.decisive else Status.PENDING

    @property
    def pending(self) -> bool:
        """Whether nothing is decided yet: a delay decides nothing."""
        return self.status is Status.PENDING

    @property
    def error(self) -> Event | None:
        """The decisive event when it is a failure, else None."""
        failed = self.status in {Status.FAILED, Status.BOUNCED, Status.COMPLAINED}
        return self.decisive if failed else None

    @property
    def updated_at(self) -> datetime:
        """When the last thing happened that the record keeps."""
        return max([self.created_at, *(event.at for event in self.events)])

    @property
    def recipients(self) -> tuple[str, ...]:
        """Everyone the mail goes to, once each, in the order given."""
        return tuple(dict.fromkeys(self.to + self.cc + self.bcc))

    def with_events(
        self, events: Iterable[Event], provider_message_id: str | None = None
    ) -> "Message":
        """The message after some more events; the same object when they tell nothing new.

        Of one kind of event for one recipient the latest is kept, so the record
        stays small and its update time does not go back; of the hand-over the
        earliest, which is the worker's own and spares a write for SES's.
        """
        kept = {(event.kind, event.recipient): event for event in self.events}
        for event in events:
            known = kept.get((event.kind, event.recipient))
            if known is None or _supersedes(event, known):
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


def _decisiveness(event: Event) -> tuple[int, datetime]:
    return (-event.kind.rank, event.at)


def _chronology(event: Event) -> tuple[datetime, int, str]:
    return (event.at, event.kind.rank, event.recipient or "")


def _supersedes(event: Event, known: Event) -> bool:
    mine = (event.at, event.code or "", event.reason or "")
    theirs = (known.at, known.code or "", known.reason or "")
    return mine < theirs if event.kind is EventKind.SENT else mine > theirs
