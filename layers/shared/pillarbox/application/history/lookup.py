"""Look up one message."""

from uuid import UUID

from pillarbox.application.account_lookup import find_message
from pillarbox.application.ports import Messages
from pillarbox.domain.accounts.key import EMAILS_READ
from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.messages.message import Message
from pillarbox.domain.sign_in.session import MemberPrincipal


class MessageLookup:
    """Reads a message for a principal who may read its account's messages."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages

    def get(self, principal: Principal | MemberPrincipal, message_id: UUID) -> Message:
        """Read one message (contract 4.4)."""
        principal.require(EMAILS_READ)
        return find_message(self._messages, principal.account.account_id, message_id)
