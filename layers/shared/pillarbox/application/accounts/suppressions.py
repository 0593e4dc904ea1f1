"""The mailboxes that an account must not mail: seeing them, adding and lifting."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pillarbox.application.accounts.lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords, Suppression, SuppressionRecords
from pillarbox.application.ports import Clock
from pillarbox.application.validation import normalize_address
from pillarbox.domain.address import mailbox_key
from pillarbox.domain.errors import ServiceError

#: The reason of those that no bounce and no complaint has caused.
BY_HAND: Final = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionList:
    """The suppressions of all accounts; an address is meant whatever its case."""

    records: SuppressionRecords
    accounts: AccountRecords
    clock: Clock

    def add(self, account_id: str, address: str) -> Suppression:
        """Suppress an address by hand; one that is suppressed already keeps its reason.

        Raises:
            ValidationFailed: on `address`.
            ServiceError: `account_not_found`.
        """
        mailbox = mailbox_key(normalize_address(address))
        find_account(self.accounts, account_id)
        suppression = Suppression(address=mailbox, reason=BY_HAND, at=self.clock())
        return self.records.add(account_id, suppression)

    def of_account(self, account_id: str) -> Iterable[Suppression]:
        """Read an account's suppressions, in the order of their addresses.

        Raises:
            ServiceError: `account_not_found`.
        """
        find_account(self.accounts, account_id)
        return self.records.of_account(account_id)

    def remove(self, account_id: str, address: str) -> str:
        """Lift a suppression and give the address as it was kept.

        Raises:
            ValidationFailed: on `address`.
            ServiceError: `account_not_found`, `suppression_not_found`.
        """
        mailbox = mailbox_key(normalize_address(address))
        find_account(self.accounts, account_id)
        if not self.records.remove(account_id, mailbox):
            raise ServiceError("suppression_not_found", "The account may mail this address.")
        return mailbox
