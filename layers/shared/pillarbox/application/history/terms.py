"""What a caller may search the messages by."""

from pillarbox.application.validation import to_a_label
from pillarbox.domain.address import (
    AddressSyntaxError,
    is_address_start,
    mailbox_key,
    parse_address,
)
from pillarbox.domain.messages.search import RecipientTerm


def search_recipient(text: str) -> RecipientTerm:
    """Return what a recipient to search for means: an address, or with a final * its start.

    Raises:
        AddressSyntaxError: with a reason in plain words.
    """
    if not text.endswith("*"):
        return RecipientTerm(mailbox_key(parse_address(text, to_a_label)))
    start = mailbox_key(text[:-1])
    if not is_address_start(start):
        raise AddressSyntaxError("must have the start of an address before the *")
    return RecipientTerm(start, is_prefix=True)
