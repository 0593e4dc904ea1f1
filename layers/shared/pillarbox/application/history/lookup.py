"""Looking back: what became of a message."""

from uuid import UUID

from pillarbox.application.ports import Messages
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.key import EMAILS_READ, Principal
from pillarbox.domain.message import Message


class MessageLookup:
    """The messages of an account, for whoever may read them."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages

    def get(self, principal: Principal, message_id: UUID) -> Message:
        """Read one message (contract 4.4).

        Raises:
            ServiceError: `scope_required`; `message_not_found`, alike for an
                absent message and for another account's.
        """
        principal.require(EMAILS_READ)
        message = self._messages.get(principal.account.account_id, message_id)
        if message is None:
            raise ServiceError("message_not_found", "There is no such message.")
        return message
