"""Erase a recipient from the record of a message, and what may name the recipient from copies."""

from typing import Any, Final

from pillarbox.domain.address import mailbox_key
from pillarbox.domain.messages.message import ERASED_ADDRESS, Message, MessageOrigin

#: Stands for the subject of a message that has an erased recipient.
ERASED_SUBJECT: Final = "[erased]"
#: What stays of a message, because it says nothing about a recipient. All other fields go.
_STAYS: Final = (
    *("account_id", "message_id", "created_at", "sender", "from_name"),
    "body_hash",  # of the whole request, so no address can be guessed from it
    # What a worker needs, and SES knows the message by.
    *("provider_message_id", "lease", "attempt", "deaths", "revision", "schedule"),
    *("hashed_suppressions", "announced", "unkept"),
)
#: What stays of its origin: ids, times, switches, and the names of a template's variables.
_STAYS_OF_ORIGIN: Final = (
    *("route", "key_id", "starter_template", "template_id", "template_version", "shape"),
    *("request_id", "scheduled_at", "held", "resend_of", "for_owner"),
)


def erase_recipient(message: Message, mailbox: str) -> Message:
    """Return a message without a recipient, or the same object if it has no such recipient.

    Subject, tags and texts of the provider go too, because they may name the person. Events,
    and so the status and the counts, stay.
    """
    if mailbox not in map(mailbox_key, message.recipients):
        return message

    def without(addresses: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            ERASED_ADDRESS if mailbox_key(address) == mailbox else address for address in addresses
        )

    erased = _what_stays(
        message,
        to=without(message.to),
        cc=without(message.cc),
        bcc=without(message.bcc),
        keep=message.keep,
    )
    return erased.with_events(message.events)


def erase_copy(message: Message) -> Message:
    """Return a copy of an erased message without subject, tags and kept content.

    Its own recipients and their events stay. It is the same object if nothing else is there.
    """
    erased = _what_stays(
        message, to=message.to, cc=message.cc, bcc=message.bcc, events=message.events
    )
    return message if erased == message else erased


def _what_stays(message: Message, **more: Any) -> Message:  # noqa: ANN401  fields of any type
    origin = {name: getattr(message.origin, name) for name in _STAYS_OF_ORIGIN}
    stays = {name: getattr(message, name) for name in _STAYS}
    return Message(subject=ERASED_SUBJECT, origin=MessageOrigin(**origin), **stays, **more)
