"""Notice when the provider begins or ceases to send for a domain of an account.

The provider does not report it, so a pass of the sweep looks: once an hour for accounts that may
have webhook endpoints, and each sixth hour for all others. It stores what it saw. The table's
stream announces the changes, and the owners hear of a domain that breaks.

This is about the domains of senders, even if no member added them, and about those that members
added and have proved, even if they have no sender yet: see `account_domains`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.accounts.ports import DomainStates, SenderDomainRecords
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.account_domain import AccountDomain
from pillarbox.domain.accounts.alert import Alert, AlertKind
from pillarbox.domain.accounts.sender_domain import DomainState, next_known
from pillarbox.domain.address import domain_of
from pillarbox.domain.errors import ServiceError

#: A domain that was proved so long ago is no news if the first look finds it verified: the account
#: had no endpoint then.
_NEW: Final = timedelta(days=1)
#: An account without endpoints is looked at in each such hour of the day. SES answers one such
#: request a second.
HOURS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderDomains:
    """Looks at the domains of accounts: those of senders, and those that members have proved."""

    records: SenderDomainRecords
    #: Reads the domains that members added to an account.
    domains_of_members: Callable[[str], Iterable[AccountDomain]]
    provider: DomainStates
    raise_alert: Callable[[str, Alert], None]
    clock: Clock

    def look(self, account: Account) -> None:
        """Compare the account's domains with what is known, and store what is new.

        If the provider does not answer, the next pass looks again.
        """
        now = self.clock()
        if not account.has_webhooks and now.hour % HOURS:
            return
        account_id = account.account_id
        known = {record.name: record for record in self.records.of_account(account_id)}
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
                # The alert comes first, because the change is seen once. Another task that looks
                # at the same time may be first. Then the change is its own.
                if old and old.state is DomainState.VERIFIED and new.state is DomainState.FAILED:
                    self.raise_alert(account_id, _alert(name, now))
                self.records.replace(account_id, old, new)


def _is_verified(account: Account, name: str) -> bool:
    return any(
        verified for address, verified in account.senders.items() if domain_of(address) == name
    )


def _alert(name: str, at: datetime) -> Alert:
    return Alert(
        kind=AlertKind.DOMAIN,
        # Two passes that see one change at the same time raise one alert.
        name=name,
        at=at.replace(minute=0, second=0, microsecond=0),
        title=f"{name} can no longer be sent from",
        paragraphs=(
            f"Amazon SES does not send for {name} any more: it does not find the domain's records.",
            "Emails from it fail until they are back. The dashboard shows which ones are missing.",
        ),
        about=f"Domain: {name}",
    )
