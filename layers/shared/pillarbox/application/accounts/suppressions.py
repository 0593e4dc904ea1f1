"""List, add and remove the suppressions of an account: mailboxes that it must not send to."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pillarbox.application.accounts.lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords, SuppressionRecords
from pillarbox.application.ports import Clock
from pillarbox.application.validation import normalize_address
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.suppression import Suppression, hashed_mailbox

#: The reason of a suppression that no bounce or complaint caused.
MANUAL: Final = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionList:
    """The suppressions of all accounts. The case of an address does not matter."""

    records: SuppressionRecords
    accounts: AccountRecords
    clock: Clock

    def add(self, account_id: str, address: str) -> Suppression:
        """Suppress an address by hand; an existing suppression keeps its reason.

        Raises:
            ValidationFailed: on `address`.
            ServiceError: `account_not_found`.
        """
        mailbox = mailbox_key(normalize_address(address))
        find_account(self.accounts, account_id)
        suppression = Suppression(address=mailbox, reason=MANUAL, at=self.clock())
        return self.records.add(account_id, suppression)

    def of_account(self, account_id: str) -> Iterable[Suppression]:
        """Read an account's suppressions, sorted by address.

        Raises:
            ServiceError: `account_not_found`.
        """
        find_account(self.accounts, account_id)
        return self.records.of_account(account_id)

    def remove(self, account_id: str, address: str) -> str:
        """Remove a suppression and return its address as it was stored.

        Raises:
            ValidationFailed: on `address`.
            ServiceError: `account_not_found`, `suppression_not_found`.
        """
        mailbox = mailbox_key(normalize_address(address))
        find_account(self.accounts, account_id)
        is_removed = self.records.remove(account_id, mailbox)
        # The address may have been erased, so that only its hash is stored.
        is_removed |= self.records.remove(account_id, hashed_mailbox(account_id, mailbox))
        if not is_removed:
            message = "The account does not suppress this address."
            raise ServiceError("suppression_not_found", message)
        return mailbox
