"""Find the account or the message that a caller names. Use cases that take an id start here."""

from collections.abc import Iterable
from typing import Protocol
from uuid import UUID

from pillarbox.application.ports import Messages
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import is_token
from pillarbox.domain.messages.message import Message


class AccountReader(Protocol):
    """Reads accounts with strong consistency."""

    def get(self, account_id: str) -> Account | None:
        """Read one account."""

    def all(self) -> Iterable[Account]:
        """Read all accounts, sorted by id."""


def account_not_found() -> ServiceError:
    return ServiceError(
        "account_not_found", "There is no such account: `pillarbox account list` shows all."
    )


def existing(account: Account | None) -> Account:
    """Return an account that was changed, unless it was deleted meanwhile."""
    if account is None:
        raise account_not_found()
    return account


def find_account(records: AccountReader, account_id: str) -> Account:
    return existing(records.get(account_id) if is_token(account_id, ACCOUNT_ID_LENGTH) else None)


def find_message(messages: Messages, account_id: str, message_id: UUID) -> Message:
    message = messages.get(account_id, message_id)
    if message is None:
        raise ServiceError("message_not_found", "There is no such message.")
    return message
