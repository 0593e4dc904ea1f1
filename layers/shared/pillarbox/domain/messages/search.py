"""Search terms: what messages are found by, apart from their time and status."""

from dataclasses import dataclass
from typing import ClassVar, Final

from pillarbox.domain.address import mailbox_key
from pillarbox.domain.messages.message import ERASED_ADDRESS, Message


@dataclass(frozen=True, slots=True)
class RecipientTerm:
    """An address in To, Cc or Bcc, or how one begins, as `mailbox_key` returns it."""

    text: str
    is_prefix: bool = False

    def matches(self, message: Message) -> bool:
        """Return whether a message has such a recipient."""
        mailboxes = mailboxes_of(message)
        if self.is_prefix:
            return any(mailbox.startswith(self.text) for mailbox in mailboxes)
        return self.text in mailboxes


@dataclass(frozen=True, slots=True)
class TagTerm:
    """A tag: a name with a value."""

    name: str
    value: str
    is_prefix: ClassVar = False

    def matches(self, message: Message) -> bool:
        """Return whether a message has the tag."""
        return message.origin.tags.get(self.name) == self.value


type SearchTerm = RecipientTerm | TagTerm

#: The name of the tag by which an erasure finds the copies of a message. No sender can give it.
_COPY: Final = ""


def terms_of(message: Message) -> frozenset[SearchTerm]:
    """Return what a message can be found by.

    That is each recipient who was not erased, each tag, and the message whose content it repeats.
    """
    recipients = {RecipientTerm(mailbox) for mailbox in mailboxes_of(message)}
    original = message.origin.resend_of
    tags = {**message.origin.tags} | ({_COPY: str(original)} if original else {})
    return frozenset(recipients | {TagTerm(name, value) for name, value in tags.items()})


def mailboxes_of(message: Message) -> set[str]:
    """Return the mailboxes of the recipients who were not erased."""
    return {*map(mailbox_key, message.recipients)} - {ERASED_ADDRESS}
