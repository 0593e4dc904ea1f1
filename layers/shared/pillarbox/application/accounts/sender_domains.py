"""Notice when the provider begins or ceases to send for a domain of an account.

The provider does not report it, so a pass of the sweep looks once an hour, and only for accounts
that may have webhook endpoints. It stores what it saw. The table's stream announces the changes.

This is about the domains of senders, even if no member added them, and about those that members
added and have proved, even if they have no sender yet: see `account_domains`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pillarbox.application.accounts.ports import DomainStates, SenderDomainRecords
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.account_domain import AccountDomain
from pillarbox.domain.accounts.sender_domain import next_known
from pillarbox.domain.address import domain_of
from pillarbox.domain.errors import ServiceError

#: A domain that was proved so long ago is no news if the first look finds it verified: the account
#: had no endpoint then.
_NEW: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderDomains:
    """Looks at the domains of accounts: those of senders, and those that members have proved."""

    records: SenderDomainRecords
    #: Reads the domains that members added to an account.
    domains_of_members: Callable[[str], Iterable[AccountDomain]]
    provider: DomainStates
    clock: Clock

    def look(self, account: Account) -> None:
        """Compare the account's domains with what is known, and store what is new.

        If the provider does not answer, the next pass looks again.

        Raises:
            ServiceError: `service_unavailable`, from the store; the look can be repeated.
        """
        if not account.has_webhooks:
            return
        account_id = account.account_id
        known = {record.name: record for record in self.records.of_account(account_id)}
        now = self.clock()
        # Before the proof, the domain may be another account's.
        proved = {
            domain.name: domain.proved_at
            for domain in self.domains_of_members(account_id)
            if domain.proved_at
        }
        for name in sorted({domain_of(address) for address in account.senders} | proved.keys()):
            try:
                observed = self.provider.state(name)
            except ServiceError:
                return
            old = known.get(name)
            new = next_known(
                old,
                name,
                observed,
                was_verified=(
                    now - proved[name] > _NEW if name in proved else _is_verified(account, name)
                ),
                now=now,
            )
            if new is not None:
                # Another task that looks at the same time may be first. Then the change is its own.
                self.records.replace(account_id, old, new)


def _is_verified(account: Account, name: str) -> bool:
    return any(
        verified for address, verified in account.senders.items() if domain_of(address) == name
    )
