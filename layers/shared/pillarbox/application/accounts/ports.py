"""The ports of the use cases for accounts, keys, senders, suppressions and domains.

Every method may raise ServiceError `service_unavailable`, as in `application.ports`.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Protocol

from pillarbox.application.pauses import PauseRecords
from pillarbox.domain.accounts.account import (
    NO_BRAND,
    NO_LIMITS,
    Account,
    Brand,
    Isolation,
    Plan,
    Suspension,
)
from pillarbox.domain.accounts.account_domain import AccountDomain, DomainIdentity, DomainLink
from pillarbox.domain.accounts.account_log import LogEntry
from pillarbox.domain.accounts.key import ApiKey
from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.accounts.sender_domain import DomainState, SenderDomain
from pillarbox.domain.accounts.suppression import Suppression
from pillarbox.domain.sign_in.session import Member


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountChanges:
    """Changes to an account; None leaves a field unchanged.

    `plan_limits` removes the account's own limits, except those in `limits`. An empty text
    in `brand` or as `contact` removes that field.
    """

    name: str | None = None
    plan: Plan | None = None
    limits: Limits = NO_LIMITS
    plan_limits: bool = False
    hold_uncertain: bool | None = None
    operates: bool | None = None
    brand: Brand = NO_BRAND
    contact: str | None = None
    keep: int | None = None
    record_days: int | None = None
    replies: bool | None = None
    received_days: int | None = None

    def applied_to(self, account: Account) -> Account:
        given = asdict(self.limits)
        old = asdict(NO_LIMITS if self.plan_limits else account.overrides)
        limits = {name: old[name] if value is None else value for name, value in given.items()}
        brand = {name: value for name, value in asdict(self.brand).items() if value is not None}
        return replace(
            account,
            name=account.name if self.name is None else self.name,
            plan=self.plan or account.plan,
            overrides=Limits(**limits),
            hold_uncertain=account.hold_uncertain
            if self.hold_uncertain is None
            else self.hold_uncertain,
            operates=account.operates if self.operates is None else self.operates,
            keep=account.keep if self.keep is None else self.keep,
            record_days=account.record_days if self.record_days is None else self.record_days,
            replies=account.replies if self.replies is None else self.replies,
            received_days=account.received_days
            if self.received_days is None
            else self.received_days,
            contact=account.contact if self.contact is None else self.contact or None,
            brand=replace(account.brand, **{name: value or None for name, value in brand.items()}),
        )


class AccountRecords(PauseRecords, Protocol):
    """Accounts with their senders. Each change writes only the fields that it names.

    If a change comes with an entry of the account's log, both are written or neither.
    """

    def add(self, account: Account) -> None:
        """Store a new account."""

    def get(self, account_id: str) -> Account | None:
        """Read one account with strong consistency."""

    def all(self) -> Iterable[Account]:
        """Read all accounts, sorted by id."""

    def page(self, first: str | None, limit: int) -> tuple[Sequence[Account], str | None]:
        """Read some accounts, sorted by id, and return them with the id that follows, if any.

        `first` is the lowest id to return; None begins with the lowest of all.
        """

    def change(
        self, account_id: str, changes: AccountChanges, entry: LogEntry | None = None
    ) -> Account | None:
        """Change an account and return the new state, or None if there is no such account."""

    def raise_shards(
        self, account_id: str, shards: int, sharded_from: datetime, entry: LogEntry | None = None
    ) -> Account | None:
        """Raise the number of shards; return None if there is no such account or it has more.

        An account that is or will be sharded keeps the time from which on it is.
        """

    def set_reply_domain(self, account_id: str, domain: str | None) -> None:
        """Store to which domain answers come; None: to none."""

    def set_hashed_suppressions(self, account_id: str) -> None:
        """Store that an account may have suppressions that are only hashes of addresses."""

    def suspend(
        self, account_id: str, suspension: Suspension, entry: LogEntry | None = None
    ) -> Account | None:
        """Suspend an account; return None if there is no such account.

        An account that is suspended keeps the time; its reason and what happens to its queued
        emails stay unless they are given anew.
        """

    def resume(self, account_id: str, entry: LogEntry | None = None) -> Account | None:
        """End a suspension, if there is one; return None if there is no such account."""

    def set_isolation(
        self, account_id: str, isolation: Isolation, tenant: str | None
    ) -> Account | None:
        """Set both and return the new state, or None if there is no such account."""

    def put_sender(
        self, account_id: str, address: str, *, verified: bool, default: bool
    ) -> Account | None:
        """Add or update a sender; return None if there is no such account.

        A verified sender becomes the default if `default` is true or there is no default.
        """

    def remove_sender(self, account_id: str, address: str) -> Account | None:
        """Remove a sender; return None if the account or the sender does not exist.

        If it was the default sender, the account has none afterwards.
        """

    def set_default_sender(self, account_id: str, address: str) -> Account | None:
        """Make a verified sender the default; return None if the account has no such sender."""


class Invitations(Protocol):
    """The members of accounts, of whom a revocation removes some who have not agreed."""

    def of_account(self, account_id: str) -> Sequence[Member]:
        """Read an account's members."""

    def change(self, member: Member, role: None, keeper: None) -> Member | None:
        """Remove a member; return None if it is not what the caller has read."""


class LogReader(Protocol):
    """The logs of accounts."""

    def entries(
        self, account_id: str, limit: int, before: str | None = None, *, calls: bool = False
    ) -> Sequence[LogEntry]:
        """Read the last changes or calls, the newest first, those up to the id `before`."""


class KeyRecords(Protocol):
    """API keys by account and key id."""

    def add(self, key: ApiKey, parent: ApiKey | None = None) -> bool:
        """Store a new key; return False if the key that creates it was revoked meanwhile."""

    def children_of(self, key_id: str) -> Iterable[str]:
        """Read the ids of the keys that a key created, in whichever account."""

    def forget_child(self, key_id: str, child_id: str) -> None:
        """Delete the entry of a revoked child."""

    def of_account(self, account_id: str) -> Iterable[ApiKey]:
        """Read an account's keys, including revoked ones."""

    def revoke(self, account_id: str, key_id: str, at: datetime) -> ApiKey | None:
        """Revoke a key for good, from the first such time; None if there is no such key."""

    def forget(self, key: ApiKey) -> None:
        """Delete the record of a revoked key. One that is not revoked stays."""


class SenderIdentities(Protocol):
    """The sender addresses that the provider knows."""

    def ensure_identity(self, address: str) -> bool:
        """Return whether an address is verified at the provider.

        Register the address if it is unknown. The provider then emails it a verification
        link. What verifies it no longer mails bounces and complaints to the sender.
        """


class Tenants(Protocol):
    """The tenants of the provider, each with its own reputation. Every method may be repeated."""

    def create(self, name: str, isolation: Isolation) -> None:
        """Create a tenant unless it exists, and set by which policy the provider pauses it.

        It suppresses by a list of its own.
        """

    def associate(self, name: str, addresses: Iterable[str]) -> None:
        """Let a tenant send from addresses, and read back that it may.

        Raises:
            ServiceError: `service_unavailable`, if something is missing afterwards.
        """

    def missing(self, name: str, addresses: Iterable[str]) -> Sequence[str]:
        """Return what a tenant needs to send from addresses and does not have.

        Raises:
            ServiceError: `service_unavailable`, also if there is no such tenant.
        """

    def suppresses_apart(self, name: str) -> bool:
        """Return whether a tenant has a suppression list of its own, for bounces and complaints.

        Raises:
            ServiceError: `service_unavailable`, also if there is no such tenant.
        """

    def delete(self, name: str) -> None:
        """Delete a tenant, if it exists. What it sent from stays."""

    def all(self) -> Mapping[str, bool]:
        """Return the names of all tenants, each with whether it may send."""


class SharedTenant(Protocol):
    """Which tenant the accounts of strangers share, from when on new ones begin in it."""

    def stored(self) -> str | None:
        """Return its name, or None as long as it may not send."""

    def store(self, name: str | None) -> None:
        """Let new accounts begin in it, or no longer."""


class SuppressionRecords(Protocol):
    """The suppressed mailboxes of each account, by `domain.address.mailbox_key`."""

    def add(self, account_id: str, suppression: Suppression) -> Suppression:
        """Suppress a mailbox and return the stored suppression; an earlier one is kept."""

    def add_all(
        self, account_id: str, suppressions: Sequence[Suppression]
    ) -> Sequence[Suppression]:
        """Suppress mailboxes as `add` does, and return what is stored."""

    def get(self, account_id: str, address: str) -> Suppression | None:
        """Read one suppression with strong consistency."""

    def page(
        self, account_id: str, start: str, first: str | None, limit: int
    ) -> Sequence[Suppression]:
        """Read some suppressions whose addresses begin with a text, sorted by address.

        `first` is the lowest address to return; None begins with the lowest of all.
        """

    def of_account(self, account_id: str) -> Iterable[Suppression]:
        """Read an account's suppressions, sorted by address."""

    def remove(self, account_id: str, address: str) -> None:
        """Remove a suppression, if there is one."""


class DomainIdentities(Protocol):
    """The sending domains that the provider knows."""

    def get(self, name: str) -> DomainIdentity | None:
        """Read a domain; return None if the provider does not know it."""

    def add(self, name: str) -> DomainIdentity:
        """Register a domain with 2048-bit DKIM keys, and mail no feedback to its senders.

        A known domain stays as it is otherwise.
        """

    def ensure_no_feedback_mail(self, identity: DomainIdentity) -> DomainIdentity:
        """Let the provider not mail bounces and complaints to senders; return what it is then.

        It stays unchanged if the provider refuses: the domain can send all the same.
        """

    def remove(self, name: str) -> None:
        """Delete a domain with its keys, if the provider knows it."""

    def set_mail_from(self, name: str, mail_from: str) -> None:
        """Set the domain of the envelope sender for a known domain."""


class DomainStates(Protocol):
    """The states of sender domains at the provider."""

    def state(self, name: str) -> DomainState | None:
        """Read the state of a domain, which is verified if a parent domain is.

        Return None if the provider knows neither it nor a parent domain.
        """


class SenderDomainRecords(Protocol):
    """What the hourly look saw of the domains of accounts' senders. Webhooks announce changes."""

    def of_account(self, account_id: str) -> Iterable[SenderDomain]:
        """Read the records of an account with strong consistency."""

    def replace(self, account_id: str, old: SenderDomain | None, new: SenderDomain) -> bool:
        """Write a record; return False if it is no longer `old` (None: there is one)."""


class AccountDomainRecords(Protocol):
    """The domains that members added to accounts. Several accounts may have the same one."""

    def add(self, domain: AccountDomain) -> AccountDomain:
        """Store a new domain, or return the one that the account has."""

    def get(self, account_id: str, name: str) -> AccountDomain | None:
        """Read one domain with strong consistency."""

    def of_account(self, account_id: str) -> Sequence[AccountDomain]:
        """Read an account's domains, sorted by name."""

    def update(self, domain: AccountDomain) -> AccountDomain | None:
        """Store what the provider and DNS say; return None if the account has no such domain.

        The first proof is kept, and the account is one of the domain's owners from then on.
        """

    def set_link(self, account_id: str, name: str, link: DomainLink | None) -> bool:
        """Store the link of a domain, or none; return False if the domain does not exist."""

    def set_receiving(
        self, domain: AccountDomain, label: str | None, names: AbstractSet[str]
    ) -> bool:
        """Store below which label a domain receives, and for which names; None: nothing.

        Return False if the domain does not exist.
        """

    def owners(self, name: str) -> Sequence[str]:
        """Return the ids of the accounts that have proved a domain."""

    def end_proof(self, domain: AccountDomain) -> AccountDomain | None:
        """Take the proof back; return None if DNS had it later than this state says."""

    def remove(self, account_id: str, name: str) -> bool:
        """Remove a domain; return False if there is none."""


@dataclass(frozen=True, slots=True)
class DnsRecord:
    """A DNS record. Texts have no quotes, and names have no trailing dot."""

    purpose: str
    type: str
    name: str
    value: str


class DnsLookup(Protocol):
    """The public DNS."""

    def look_up(self, name: str, kind: str) -> Sequence[str] | None:
        """Return the values of a record type at a name; None if DNS gives no answer."""


@dataclass(frozen=True, slots=True)
class HostedZone:
    """A public hosted zone of the AWS account."""

    zone_id: str
    name: str


class HostedZones(Protocol):
    """The public hosted zones of the AWS account."""

    def zones_for(self, name: str) -> Sequence[HostedZone]:
        """Return the zones that contain a name: those with the longest zone name."""

    def values_at(self, zone: HostedZone, name: str) -> Mapping[str, Sequence[str]]:
        """Return the values at a name by record type; an alias has no values."""

    def create(self, zone: HostedZone, records: Sequence[DnsRecord]) -> None:
        """Create all records or none. Existing records are never changed."""
