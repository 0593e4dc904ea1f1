"""Add, check and remove the domains that an account sends from, for its members.

The provider has one identity of a domain for all accounts. An account could add a domain of others
and send from it when they have set it up. So each account also needs a TXT record that names it. A
domain that another account or the operator has looks the same as a new one.

What members see here is not what webhooks announce: `sender_domains` looks at the domains of the
account's senders, also those that the operator added without a proof.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from pillarbox.application.account_lookup import find_account
from pillarbox.application.accounts.dns_records import (
    RecordCheck,
    RecordState,
    ownership_record,
    required_records,
)
from pillarbox.application.accounts.domains import MAIL_FROM_LABEL, DomainCheck
from pillarbox.application.accounts.ports import (
    AccountDomain,
    AccountDomainRecords,
    AccountRecords,
    DnsRecord,
    DomainIdentity,
)
from pillarbox.application.accounts.senders import AccountSender, Senders
from pillarbox.application.ports import Clock
from pillarbox.application.validation import normalize_domain, normalize_sender
from pillarbox.domain.accounts.limits import MAX_DOMAINS, limit_exceeded
from pillarbox.domain.accounts.sender_domain import DomainState
from pillarbox.domain.address import domain_and_parents, domain_of
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed

#: How old a description by the provider may be: it answers about one such question a second.
_PENDING_AGE: Final = timedelta(seconds=8)
_VERIFIED_AGE: Final = timedelta(minutes=10)
#: What the provider says of DKIM when it no longer looks for the records.
GIVEN_UP: Final = "FAILED"


@dataclass(frozen=True, slots=True)
class CheckedDomain:
    """A domain of an account, and the state of its DNS records."""

    domain: AccountDomain
    records: tuple[RecordCheck, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountDomains:
    """The domains of all accounts."""

    records: AccountDomainRecords
    accounts: AccountRecords
    check: DomainCheck
    clock: Clock

    def add(self, account_id: str, name: str) -> AccountDomain:
        """Add a domain to an account, or return the one that it has.

        Raises:
            ValidationFailed: on `domain`.
            ServiceError: `domain_limit_exceeded`.
        """
        name = normalize_domain(name)
        existing = self.records.of_account(account_id)
        if known := next((one for one in existing if one.name == name), None):
            return known
        if len(existing) >= MAX_DOMAINS:
            raise limit_exceeded("domain_limit_exceeded", MAX_DOMAINS, "domains")
        now = self.clock()
        identity = self._register(name)
        return self.records.add(
            AccountDomain(account_id=account_id, identity=identity, added_at=now, checked_at=now)
        )

    def of_account(self, account_id: str) -> Sequence[AccountDomain]:
        """Read an account's domains, sorted by name, and ask the provider about the stalest one."""
        domains = self.records.of_account(account_id)
        stalest = min(domains, key=lambda one: one.checked_at, default=None)
        fresh = self._refresh(stalest) if stalest else None
        return [fresh if fresh and one.name == fresh.name else one for one in domains]

    def show(self, account_id: str, name: str) -> CheckedDomain:
        """Read a domain of an account, and check its records in DNS.

        Raises:
            ServiceError: `domain_not_found`.
        """
        domain = self._refresh(self._get(account_id, name))
        checks = self.check.check_records(records_of(domain))
        # The first record is the proof.
        if domain.proved_at is None and checks[0].state is RecordState.PRESENT:
            proved = replace(domain, proved_at=self.clock())
            domain = self.records.update(proved) or proved
        return CheckedDomain(domain, checks)

    def restart(self, account_id: str, name: str) -> CheckedDomain:
        """Let the provider look for the DKIM records again, if it has given up.

        That takes a new identity, perhaps with other keys (docs/decisions/accounts.md). Accounts
        share it, so only one that has proved the domain may do so, and a domain that works stays
        as it is.

        Raises:
            ValidationFailed: on `domain`, if the account has not proved it.
            ServiceError: `domain_not_found`.
        """
        domain = self.show(account_id, name).domain
        if domain.proved_at is None:
            message = "needs its OWNERSHIP record in DNS first"
            raise ValidationFailed(FieldError("domain", message, "unproved_domain"))
        identities, now = self.check.identities, self.clock()
        identity = identities.get(domain.name)
        if identity and not identity.verified and identity.dkim == GIVEN_UP:
            identities.remove(domain.name)
            identities.add(domain.name)
            mail_from = identity.mail_from or normalize_domain(f"{MAIL_FROM_LABEL}.{domain.name}")
            identities.set_mail_from(domain.name, mail_from)
            identity = self.check.identity(domain.name)
        if identity:
            self.records.update(replace(domain, identity=identity, checked_at=now))
        return self.show(account_id, name)

    def remove(self, account_id: str, name: str) -> None:
        """Remove a domain from an account.

        The provider keeps it, because another account may use it.

        Raises:
            ServiceError: `domain_not_found`; `domain_in_use`, if the account has senders of it.
        """
        name = self._get(account_id, name).name
        senders = [
            address
            for address in sorted(find_account(self.accounts, account_id).senders)
            if name in domain_and_parents(domain_of(address))
        ]
        if senders:
            message = f"Senders of the account use {name}. Remove them first."
            raise ServiceError("domain_in_use", message, details={"senders": [*senders]})
        if not self.records.remove(account_id, name):
            raise _domain_not_found()

    def has_verified(self, account_id: str, name: str) -> bool:
        """Return whether an account can send from a domain: it or a parent domain is verified."""
        names = domain_and_parents(name)
        return any(
            domain.state is DomainState.VERIFIED and domain.name in names
            for domain in self.records.of_account(account_id)
        )

    def _get(self, account_id: str, name: str) -> AccountDomain:
        try:
            domain = self.records.get(account_id, normalize_domain(name))
        except ValidationFailed:
            domain = None
        if domain is None:
            raise _domain_not_found()
        return domain

    def _register(self, name: str) -> DomainIdentity:
        """Register a domain at the provider. What others set up there stays as it is."""
        identity = self.check.identities.add(name)
        if identity.verified or identity.mail_from is not None:
            return identity
        mail_from = normalize_domain(f"{MAIL_FROM_LABEL}.{name}")
        self.check.identities.set_mail_from(name, mail_from)
        return self.check.identity(name)

    def _refresh(self, domain: AccountDomain) -> AccountDomain:
        """Ask the provider about a domain, unless the last answer is fresh or none comes."""
        now = self.clock()
        is_verified = domain.state is DomainState.VERIFIED
        if now - domain.checked_at < (_VERIFIED_AGE if is_verified else _PENDING_AGE):
            return domain
        try:
            identity = self.check.identities.get(domain.name)
        except ServiceError:
            # `checked_at` says how old the answer is.
            return domain
        # If the operator deleted it at the provider, it begins again.
        identity = identity or self._register(domain.name)
        fresh = replace(domain, identity=identity, checked_at=now)
        return self.records.update(fresh) or fresh


@dataclass(frozen=True, slots=True)
class MemberSenders:
    """The senders that members of an account manage: addresses of its verified domains."""

    senders: Senders
    domains: AccountDomains

    def add(self, account_id: str, address: str) -> AccountSender:
        """Add a sender. The first one becomes the default.

        Raises:
            ValidationFailed: on `address`, also if its domain is not a verified one of the account.
        """
        address = normalize_sender(address)
        if not self.domains.has_verified(account_id, domain_of(address)):
            message = "its domain is not a verified domain of the account"
            raise ValidationFailed(FieldError("address", message, "unverified_domain"))
        return self.senders.add(account_id, address, verified=True)


def records_of(domain: AccountDomain) -> tuple[DnsRecord, ...]:
    """Return the records that a domain needs; the first one proves that the account controls it."""
    proof = ownership_record(domain.account_id, domain.name)
    return (proof, *required_records(domain.identity))


def _domain_not_found() -> ServiceError:
    return ServiceError("domain_not_found", "The account has no such domain.")
