"""The Message-ID of an email."""

from pillarbox.domain.address import domain_of
from pillarbox.domain.messages.message import Message


def message_id_header(message: Message) -> str:
    """Return the Message-ID of a message (RFC 5322 section 3.6.4), the same at each build."""
    return f"<{message.message_id}@{domain_of(message.sender)}>"
