"""Notice when the provider verifies a sender domain of an account, or no longer does.

The provider sends no event, so a pass of the sweep looks once an hour, and only for accounts that may
have webhook endpoints. What it noticed is a record, which the table's stream announces.
"""

from dataclasses import dataclass

from pillarbox.application.accounts.ports import (
    AccountRecords,
    DomainStates,
    SenderDomainRecords,
)
from pillarbox.application.ports import Clock
from pillarbox.domain.account import Account
from pillarbox.domain.address import domain_of
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.sender_domain import next_known


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderDomains:
    """Looks at the sender domains of accounts."""

    accounts: AccountRecords
    records: SenderDomainRecords
    provider: DomainStates
    clock: Clock

    def look(self, account_id: str) -> None:
        """Compare the account's sender domains with what is known, and store what is new.

        If the provider does not answer, the next pass looks again.

        Raises:
            ServiceError: `service_unavailable`, from the store; the look can be repeated.
        """
        account = self.accounts.get(account_id)
        if account is None or not account.has_webhooks:
            return
        known = {record.name: record for record in self.records.of_account(account_id)}
        for name in sorted({domain_of(address) for address in account.senders}):
            try:
                observed = self.provider.state(name)
            except ServiceError:
                return
            old = known.get(name)
            new = next_known(
                old,
                name,
                observed,
                was_verified=_is_verified(account, name),
                now=self.clock(),
            )
            if new is not None:
                # Another task that looks at the same time may be first. Then the change is its own.
                self.records.replace(account_id, old, new)


def _is_verified(account: Account, name: str) -> bool:
    return any(
        verified for address, verified in account.senders.items() if domain_of(address) == name
    )
