"""The senders of an account, and whether the provider sends for their domains.

The provider does not report when it begins or ceases, so a pass of the sweep looks: once an hour
for accounts that may have webhook endpoints, and each sixth hour for all others. It stores what it
saw. The table's stream announces the changes, and the owners hear of a domain that breaks.

This is about the domains of senders, even if no member added them, and about those that members
added and have proved, even if they have no sender yet: see `account_domains`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.account_lookup import existing, find_account
from pillarbox.application.accounts.ports import (
    AccountRecords,
    DomainStates,
    SenderDomainRecords,
    SenderIdentities,
    Tenants,
)
from pillarbox.application.ports import Clock
from pillarbox.application.validation import normalize_address, normalize_sender
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.account_domain import AccountDomain
from pillarbox.domain.accounts.alert import Alert, AlertKind
from pillarbox.domain.accounts.sender_domain import DomainState, next_known
from pillarbox.domain.address import domain_of
from pillarbox.domain.errors import ServiceError


@dataclass(frozen=True, slots=True)
class AccountSender:
    """A sender address of an account. The account can send from it if it is verified."""

    address: str
    verified: bool
    default: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Senders:
    """The senders of all accounts."""

    accounts: AccountRecords
    identities: SenderIdentities
    tenants: Tenants

    def add(
        self, account_id: str, address: str, *, verified: bool = False, default: bool = False
    ) -> AccountSender:
        """Add a sender, or check again whether an existing one is verified.

        If the account has a tenant at the provider, the tenant may send from it first.

        Args:
            address: one bare address.
            verified: treat the address as verified, without asking the provider.
            default: make it the default sender if it is verified. If the account has no
                default, the first verified sender always becomes the default.
        """
        address = normalize_sender(address)
        before = find_account(self.accounts, account_id)
        verified = verified or self.identities.ensure_identity(address)
        if verified and before.tenant:
            self.tenants.associate(before.tenant, [address])
        account = existing(
            self.accounts.put_sender(
                account_id, address, verified=verified, default=default and verified
            )
        )
        if verified and account.tenant and account.tenant != before.tenant:
            # It got the tenant meanwhile, from somebody who may not have seen the sender.
            self.tenants.associate(account.tenant, [address])
        return _sender(account, address)

    def of_account(self, account_id: str) -> tuple[AccountSender, ...]:
        account = find_account(self.accounts, account_id)
        return tuple(_sender(account, address) for address in sorted(account.senders))

    def remove(self, account_id: str, address: str) -> str:
        """Remove a sender from an account and return its normalized address.

        If it was the default sender, the account has none until you set another one. The
        provider keeps the address, because another account may use it.
        """
        address = normalize_address(address)
        find_account(self.accounts, account_id)
        if self.accounts.remove_sender(account_id, address) is None:
            raise _sender_not_found(address)
        return address

    def make_default(self, account_id: str, address: str) -> AccountSender:
        """Make a verified sender the default: emails without `from` use it."""
        address = normalize_address(address)
        account = find_account(self.accounts, account_id)
        if address not in account.senders:
            raise _sender_not_found(address)
        changed = self.accounts.set_default_sender(account_id, address)
        if changed is None:
            raise ServiceError(
                "no_verified_sender",
                f"{address} is not verified yet, so it cannot be the default sender.",
                details={"from": address},
            )
        return _sender(changed, address)


def _sender(account: Account, address: str) -> AccountSender:
    return AccountSender(address, account.senders[address], address == account.default_sender)


def _sender_not_found(address: str) -> ServiceError:
    return ServiceError("sender_not_found", f"The account has no sender {address}.")


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
