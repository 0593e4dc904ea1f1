"""What happens to the emails and the addresses of an account, as webhooks announce it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID, uuid5

from pillarbox.domain.accounts.pause import SUSPENSION, Pause, PauseSummary
from pillarbox.domain.accounts.sender_domain import DomainState
from pillarbox.domain.messages.message import (
    ERASED_ADDRESS,
    Event,
    EventKind,
    Message,
    SendRoute,
)
from pillarbox.domain.timing import milliseconds
from pillarbox.domain.webhooks.endpoint import ALL_TYPES, WebhookEndpoint, WebhookEvent, WebhookType

#: The namespace of the ids of events (RFC 9562 section 5.5).
_NAMESPACE: Final = UUID("d3b8ab20-6a3c-5d0c-8d0e-3f4f2c0a7b11")
_TYPES: Final = {
    EventKind.ACCEPTED: WebhookType.EMAIL_ACCEPTED,
    EventKind.SENT: WebhookType.EMAIL_SENT,
    EventKind.DELIVERED: WebhookType.EMAIL_DELIVERED,
    EventKind.DELAYED: WebhookType.EMAIL_DELAYED,
    EventKind.BOUNCED: WebhookType.EMAIL_BOUNCED,
    EventKind.BOUNCED_TRANSIENT: WebhookType.EMAIL_BOUNCED,
    EventKind.COMPLAINED: WebhookType.EMAIL_COMPLAINED,
    EventKind.FAILED: WebhookType.EMAIL_FAILED,
    EventKind.UNCERTAIN: WebhookType.EMAIL_FAILED,
}
_DOMAIN_TYPES: Final = {
    DomainState.VERIFIED: WebhookType.DOMAIN_VERIFIED,
    DomainState.FAILED: WebhookType.DOMAIN_FAILED,
}
#: An endpoint receives these only if its list names them.
_ONLY_BY_NAME: Final = frozenset({WebhookType.EMAIL_ACCEPTED, WebhookType.WEBHOOK_TEST})


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountEvent:
    """A thing that happened in an account, for any of its endpoints.

    An event of a message has its `message_id` and `kind`, and a `recipient` if it is of one.
    """

    type: WebhookType
    account_id: str
    at: datetime
    #: For `email.received`, of the received mail.
    message_id: UUID | None = None
    kind: EventKind | None = None
    recipient: str | None = None
    #: The suppressed address, for `suppression.added` only.
    address: str | None = None
    #: The sender domain, for `domain.verified` and `domain.failed` only.
    domain: str | None = None
    #: What was paused, for `account.paused` only.
    pause: str | None = None

    def event_id(self, endpoint_id: str) -> UUID:
        """Return the id of the event for one endpoint, the same each time.

        The time is no part of the id of a message's event, because a repeated provider event
        may change it. Everything else that happens may happen again, so there the time counts.
        """
        if self.kind is not None:
            parts: tuple[object, ...] = (self.message_id, self.kind.value, self.recipient or "")
        else:
            about = self.address or self.domain or self.pause or self.message_id or ""
            parts = (self.type.value, self.account_id, about, milliseconds(self.at))
        return uuid5(_NAMESPACE, "\n".join(map(str, (*parts, endpoint_id))))

    def for_endpoint(self, endpoint_id: str) -> WebhookEvent:
        return WebhookEvent(
            event_id=self.event_id(endpoint_id),
            type=self.type,
            account_id=self.account_id,
            endpoint_id=endpoint_id,
            at=self.at,
            message_id=self.message_id,
            address=self.address,
            domain=self.domain,
            pause=self.pause,
        )


def events_of(message: Message) -> Sequence[AccountEvent]:
    """Return all events of a message, its acceptance first.

    A notice of the service has none: the account did not send it.
    """
    if message.origin.route is SendRoute.NOTICE:
        return []
    accepted = Event(kind=EventKind.ACCEPTED, at=message.created_at)
    return [
        AccountEvent(
            type=_TYPES[event.kind],
            account_id=message.account_id,
            at=event.at,
            message_id=message.message_id,
            kind=event.kind,
            recipient=event.recipient,
        )
        for event in (accepted, *message.events)
    ]


def new_events(old: Message | None, new: Message) -> Sequence[AccountEvent]:
    """Return the events that a change of a record adds; None is the record before its creation.

    A repeated event with another time is not new, nor is one whose recipient was erased.
    """
    known = {(event.kind, event.recipient) for event in events_of(old)} if old else set()
    if new.is_erased:
        known |= {(kind, name and new.recipient_of(name)) for kind, name in known}
    return [event for event in events_of(new) if (event.kind, event.recipient) not in known]


def find_event(message: Message, event: WebhookEvent) -> AccountEvent | None:
    """Return the event of a message that a webhook event announces.

    It is None if the record is older than the event, or has lost its recipient.
    """
    for candidate in events_of(message):
        if candidate.event_id(event.endpoint_id) == event.event_id:
            return candidate
    return None


def find_erased(message: Message, event: WebhookEvent) -> AccountEvent | None:
    """Return the event that was announced with the address of a recipient who was erased since.

    Of several recipients who were erased the record keeps one event of a kind.
    """
    of_erased = (
        candidate
        for candidate in events_of(message)
        if (candidate.type, candidate.recipient) == (event.type, ERASED_ADDRESS)
    )
    return min(of_erased, key=lambda candidate: abs(candidate.at - event.at), default=None)


def suppression_added(
    account_id: str, address: str, at: datetime, message_id: UUID | None
) -> AccountEvent:
    """Return the event that an address was suppressed."""
    return AccountEvent(
        type=WebhookType.SUPPRESSION_ADDED,
        account_id=account_id,
        at=at,
        message_id=message_id,
        address=address,
    )


def account_paused(account_id: str, at: datetime, pause: Pause | None = None) -> AccountEvent:
    """Return the event of a pause, or that the operator suspended the account."""
    summary = PauseSummary.of(pause) if pause else SUSPENSION
    return AccountEvent(
        type=WebhookType.ACCOUNT_PAUSED, account_id=account_id, at=at, pause=summary.text
    )


def new_pauses(old: Iterable[Pause], new: Iterable[Pause]) -> Sequence[Pause]:
    """Return the pauses that a change of an account adds. One that ends is no new one."""
    known = {(pause.key, pause.since, pause.level) for pause in old}
    return [pause for pause in new if (pause.key, pause.since, pause.level) not in known]


def domain_changed(
    account_id: str, domain: str, state: DomainState, at: datetime
) -> AccountEvent | None:
    """Return the event that the provider verified a sender domain, or no longer does."""
    webhook_type = _DOMAIN_TYPES.get(state)
    if webhook_type is None:
        return None
    return AccountEvent(type=webhook_type, account_id=account_id, at=at, domain=domain)


def email_received(account_id: str, received_id: UUID, at: datetime) -> AccountEvent:
    return AccountEvent(
        type=WebhookType.EMAIL_RECEIVED, account_id=account_id, at=at, message_id=received_id
    )


def webhook_test(account_id: str, at: datetime) -> AccountEvent:
    """Return the event that the owner of an endpoint asks for, to try it."""
    return AccountEvent(type=WebhookType.WEBHOOK_TEST, account_id=account_id, at=at)


def receives(endpoint: WebhookEndpoint, webhook_type: WebhookType) -> bool:
    if webhook_type in endpoint.types:
        return True
    return ALL_TYPES in endpoint.types and webhook_type not in _ONLY_BY_NAME
