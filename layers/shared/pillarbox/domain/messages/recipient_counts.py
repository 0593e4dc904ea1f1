"""How many recipients a message has, as SES judges the sender of an account."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pillarbox.domain.address import SIMULATOR_DOMAIN, domain_of
from pillarbox.domain.messages.message import EventKind, Message, SendRoute, Status


@dataclass(frozen=True, slots=True)
class RecipientCounts:
    """To how many recipients SES sent emails, and how many of them bounced for good or complained.

    As SES judges a sender: addresses of its simulator do not count, nor those that it refused
    because of its own lists, nor anybody of an email that it took and then refused for a virus.
    """

    sent: int = 0
    bounced: int = 0
    complained: int = 0

    def __add__(self, other: "RecipientCounts") -> "RecipientCounts":
        return RecipientCounts(
            self.sent + other.sent,
            self.bounced + other.bounced,
            self.complained + other.complained,
        )

    def __sub__(self, other: "RecipientCounts") -> "RecipientCounts":
        return RecipientCounts(
            self.sent - other.sent,
            self.bounced - other.bounced,
            self.complained - other.complained,
        )


NO_RECIPIENTS: Final = RecipientCounts()


def one_recipient(statuses: Mapping[Status, int] | frozenset[Status]) -> RecipientCounts:
    """Return the counts of messages to one recipient each that reached some statuses."""
    if isinstance(statuses, frozenset):
        statuses = dict.fromkeys(statuses, 1)
    return RecipientCounts(
        statuses.get(Status.SENT, 0),
        statuses.get(Status.BOUNCED, 0),
        statuses.get(Status.COMPLAINED, 0),
    )


def count_recipients(message: Message, statuses: frozenset[Status]) -> RecipientCounts:
    """Count the recipients of a message as SES judges its sender.

    Notices of the service do not count, because the account did not send them.
    """
    if Status.SENT not in statuses or message.origin.route is SendRoute.NOTICE:
        return NO_RECIPIENTS
    by_kind: defaultdict[EventKind, set[str | None]] = defaultdict(set)
    refused: set[str | None] = set()
    for event in message.events:
        if event.kind is EventKind.FAILED:
            refused.add(event.recipient)
        else:
            by_kind[event.kind].add(event.recipient)
    # A report may name nobody whom the record still knows.
    known = {*message.recipients}
    if None in refused:  # the whole email, except for those of whom a report shows otherwise
        refused |= known - set().union(*by_kind.values())
    sent = {
        recipient
        for recipient in message.recipients
        if recipient not in refused and domain_of(recipient) != SIMULATOR_DOMAIN
    }
    bounced, complained = (
        len({one for one in by_kind[kind] if one in sent or one not in known})
        for kind in (EventKind.BOUNCED, EventKind.COMPLAINED)
    )
    return RecipientCounts(len(sent), min(bounced, len(sent)), min(complained, len(sent)))
