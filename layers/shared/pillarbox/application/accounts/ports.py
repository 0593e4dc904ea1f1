"""What an operator's use-cases need of the world; the adapters fulfil them.

Every method may raise ServiceError `service_unavailable`, as those of
`application.ports` do.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from pillarbox.domain.account import Account, Plan
from pillarbox.domain.key import ApiKey
from pillarbox.domain.quota import Limits

NO_LIMITS = Limits(per_minute=None, per_day=None, per_month=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountChanges:
    """What to change of an account; None leaves a field as it is.

    With `plan_limits` the account's own limits go, save for those given here.
    """

    name: str | None = None
    plan: Plan | None = None
    limits: Limits = NO_LIMITS
    plan_limits: bool = False
    hold_uncertain: bool | None = None


class AccountRecords(Protocol):
    """Accounts with their senders. Each change touches the fields it names and no other."""

    def add(self, account: Account) -> None:
        """Keep a new account."""
        ...

    def get(self, account_id: str) -> Account | None:
        """Read one account, seeing every write that was answered."""
        ...

    def all(self) -> Iterable[Account]:
        """Read all accounts, in the order of their ids."""
        ...

    def change(self, account_id: str, changes: AccountChanges) -> Account | None:
        """Change an account and give it as it is now; None when there is none."""
        ...

    def put_sender(
        self, account_id: str, address: str, *, verified: bool, default: bool
    ) -> Account | None:
        """Note a sender and whether it is verified; None when there is no such account.

        A verified one becomes the default when `default` says so or there is none yet.
        """
        ...

    def remove_sender(self, account_id: str, address: str) -> Account | None:
        """Forget a sender, also as the default; None when account or sender is absent."""
        ...

    def set_default_sender(self, account_id: str, address: str) -> Account | None:
        """Make a verified sender the default; None when the account has no such one."""
        ...


class KeyRecords(Protocol):
    """API keys, found by their ids and by account."""

    def add(self, key: ApiKey) -> None:
        """Keep a new key."""
        ...

    def of_account(self, account_id: str) -> Iterable[ApiKey]:
        """Read an account's keys, the revoked ones too."""
        ...

    def revoke(self, account_id: str, key_id: str, at: datetime) -> ApiKey | None:
        """Revoke a key for good; the first time stays. None when there is no such key."""
        ...


class SenderIdentities(Protocol):
    """The addresses that the delivery provider sends mail from."""

    def ensure_identity(self, address: str) -> bool:
        """Whether the provider holds an address for verified.

        One that it does not know is made known to it, upon which it mails
        the address to have it verified.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """A mailbox that an account must not mail; `message_id` is the mail that caused it."""

    address: str
    reason: str
    at: datetime
    message_id: UUID | None = None


class SuppressionRecords(Protocol):
    """The suppressed mailboxes of each account, by `domain.address.mailbox_key`."""

    def add(self, account_id: str, suppression: Suppression) -> Suppression:
        """Suppress a mailbox; gives what stands: an earlier suppression stays as it is."""
        ...

    def of_account(self, account_id: str) -> Iterable[Suppression]:
        """Read an account's suppressions, in the order of their addresses."""
        ...

    def remove(self, account_id: str, address: str) -> bool:
        """Lift a suppression; False when there was none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainIdentity:
    """A domain as the delivery provider knows it; states are the provider's own words."""

    name: str
    verified: bool
    #: SUCCESS once the provider has found the keys in the DNS.
    dkim: str
    dkim_tokens: tuple[str, ...]
    #: Where the tokens' public keys are.
    dkim_zone: str
    #: The domain of the envelope's sender; None for the provider's own.
    mail_from: str | None
    mail_from_status: str | None
    #: Where bounces to the MAIL FROM domain are taken.
    feedback_host: str


class DomainIdentities(Protocol):
    """The domains that the delivery provider sends mail from."""

    def get(self, name: str) -> DomainIdentity | None:
        """Read a domain; None when the provider does not know it."""
        ...

    def add(self, name: str) -> DomainIdentity:
        """Make a domain known, with DKIM keys of 2048 bits; one that is known stays as it is."""
        ...

    def set_mail_from(self, name: str, mail_from: str) -> None:
        """Set the domain of the envelope's sender for a domain that is known."""
        ...


@dataclass(frozen=True, slots=True)
class DnsRecord:
    """A record of the DNS: a text without its quotes, a name without its last dot."""

    purpose: str
    type: str
    name: str
    value: str


class DnsLookup(Protocol):
    """The DNS as everybody sees it."""

    def look_up(self, name: str, kind: str) -> Sequence[str] | None:
        """The values of a type at a name; None when the DNS gives no answer."""
        ...


@dataclass(frozen=True, slots=True)
class Zone:
    """A public hosted zone of the account."""

    zone_id: str
    name: str


class Zones(Protocol):
    """The hosted zones of the account, in which records can be created."""

    def holding(self, name: str) -> Sequence[Zone]:
        """The zones with the longest name that the name is in or under."""
        ...

    def values(self, zone: Zone, name: str) -> Mapping[str, Sequence[str]]:
        """The values at a name by type; a type without values is there as an alias."""
        ...

    def create(self, zone: Zone, records: Sequence[DnsRecord]) -> None:
        """Create records, all or none; a set of records that exists is never changed."""
        ...
