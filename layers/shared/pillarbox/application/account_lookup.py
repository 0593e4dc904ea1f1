"""Find the account that a caller names. Every use case that takes an account id starts here."""

from collections.abc import Iterable
from typing import Protocol

from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.ids import is_token


class AccountReader(Protocol):
    """Reads accounts with strong consistency."""

    def get(self, account_id: str) -> Account | None:
        """Read one account."""

    def all(self) -> Iterable[Account]:
        """Read all accounts, sorted by id."""


def account_not_found() -> ServiceError:
    """Return the error for an unknown account id."""
    return ServiceError(
        "account_not_found", "There is no such account: `pillarbox account list` shows all."
    )


def find_account(records: AccountReader, account_id: str) -> Account:
    """Read an account."""
    account = records.get(account_id) if is_token(account_id, ACCOUNT_ID_LENGTH) else None
    if account is None:
        raise account_not_found()
    return account
