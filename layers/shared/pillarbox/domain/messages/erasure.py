"""Erase a recipient from the record of a message, and what may name the recipient from copies."""

from dataclasses import replace
from typing import Final

from pillarbox.domain.address import mailbox_key
from pillarbox.domain.messages.message import ERASED_ADDRESS, Message

#: Stands for the subject of a message that has an erased recipient.
ERASED_SUBJECT: Final = "[erased]"


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

    erased = replace(
        message,
        subject=ERASED_SUBJECT,
        to=without(message.to),
        cc=without(message.cc),
        bcc=without(message.bcc),
        origin=replace(message.origin, tags={}),
        events=(),
    )
    return erased.with_events(message.events)


def erase_copy(message: Message) -> Message:
    """Return a copy of an erased message without subject, tags and kept content.

    Its own recipients stay. It is the same object if nothing of this is there.
    """
    erased = replace(
        message, subject=ERASED_SUBJECT, origin=replace(message.origin, tags={}), keep=0
    )
    return message if erased == message else erased
