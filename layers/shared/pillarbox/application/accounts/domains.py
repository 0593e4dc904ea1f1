"""Sending domains: their DNS records, and what members add, check and remove.

The provider has one identity of a domain for all accounts. An account could add a domain of others
and send from it when they have set it up. So each account also needs a TXT record that names it.
The provider gets to know the domain only then, because the number of its identities is limited. A
domain that another account or the operator has looks the same as a new one.

What members see here is not what webhooks announce: `senders.py` looks at the domains of the
account's senders, also those that the operator added without a proof.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from pillarbox.application.account_lookup import find_account
from pillarbox.application.accounts.ports import (
    AccountDomainRecords,
    AccountRecords,
    DnsLookup,
    DnsRecord,
    DomainIdentities,
    HostedZone,
    HostedZones,
)
from pillarbox.application.accounts.senders import AccountSender, Senders
from pillarbox.application.change_log import ChangeLog
from pillarbox.application.ports import Clock
from pillarbox.application.slow_requests import SlowRequests
from pillarbox.application.validation import normalize_domain, normalize_sender
from pillarbox.domain.accounts.account import MAX_ADDED_DOMAINS, MAX_DOMAINS, limit_exceeded
from pillarbox.domain.accounts.account_domain import (
    MAIL_FROM_LABEL,
    AccountDomain,
    DomainIdentity,
    unregistered,
)
from pillarbox.domain.accounts.account_log import SERVICE, AccountAction
from pillarbox.domain.accounts.sender_domain import DomainState
from pillarbox.domain.address import domain_and_parents, domain_of
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed

_INCLUDE: Final = "include:amazonses.com"
SPF: Final = f"v=spf1 {_INCLUDE} ~all"
#: Asks receivers for nothing. The owner of the domain makes it stricter.
DMARC: Final = "v=DMARC1; p=none"
OWNERSHIP_LABEL: Final = "_pillarbox"


class RecordState(StrEnum):
    """How DNS compares with a required record."""

    PRESENT = "present"
    CREATED = "created"
    MISSING = "missing"
    DIFFERS = "differs"
    #: DNS gave no answer.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RecordCheck:
    """A required record and its state. `advice` says what to do if another value exists."""

    record: DnsRecord
    state: RecordState
    advice: str = ""
    #: What DNS has at the name, of the record's type.
    values: tuple[str, ...] = ()


def required_records(identity: DomainIdentity) -> tuple[DnsRecord, ...]:
    """Return the records that a domain needs: DKIM, MAIL FROM, SPF and DMARC.

    Sources: SES, "Easy DKIM" and "Custom MAIL FROM". Receivers check SPF at the MAIL FROM
    domain (RFC 7208 section 2.4). The domain's own SPF record is for receivers that look
    there.
    """
    dkim = (
        DnsRecord(
            "DKIM",
            "CNAME",
            f"{token}._domainkey.{identity.name}",
            f"{token}.{identity.dkim_zone}",
        )
        for token in identity.dkim_tokens
    )
    mail_from = (
        (
            DnsRecord("MAIL FROM", "MX", identity.mail_from, f"10 {identity.feedback_host}"),
            DnsRecord("MAIL FROM SPF", "TXT", identity.mail_from, SPF),
        )
        if identity.mail_from
        else ()
    )
    own = (
        DnsRecord("SPF", "TXT", identity.name, SPF),
        DnsRecord("DMARC", "TXT", f"_dmarc.{identity.name}", DMARC),
    )
    return (*dkim, *mail_from, *own)


def ownership_record(account_id: str, domain: str) -> DnsRecord:
    """Return the record by which a domain's owner lets an account use it.

    Its name has the account's id, so that several accounts can have one each.
    """
    name = f"{account_id}.{OWNERSHIP_LABEL}.{domain}"
    return DnsRecord("OWNERSHIP", "TXT", name, f"pillarbox-account={account_id}")


def compare(record: DnsRecord, values: Sequence[str]) -> RecordCheck:
    if not values:
        return RecordCheck(record, RecordState.MISSING)
    match record.type, record.purpose:
        case "TXT", "OWNERSHIP":
            advice = "" if record.value in values else "add this value next to the existing ones"
        case "TXT", "DMARC":
            advice = _dmarc_advice(values)
        case "TXT", _:
            advice = _spf_advice(values)
        case "MX", _:
            advice = _mx_advice(record, values)
        case _:
            same = {_name(value) for value in values} == {_name(record.value)}
            advice = "" if same else f"replace {', '.join(values)}"
    state = RecordState.DIFFERS if advice else RecordState.PRESENT
    return RecordCheck(record, state, advice, tuple(values))


def spf_records(texts: Sequence[str]) -> list[str]:
    """Return the texts that are SPF records (RFC 7208 section 4.5)."""
    return [text for text in texts if text.lower().split(" ")[0] == "v=spf1"]


def dmarc_records(texts: Sequence[str]) -> list[str]:
    """Return the texts that are DMARC records (RFC 7489 section 6.6.3)."""
    return [text for text in texts if text.replace(" ", "").partition(";")[0] == "v=DMARC1"]


def _spf_advice(texts: Sequence[str]) -> str:
    records = spf_records(texts)
    if not records:
        return "add this value next to the existing TXT values"
    if len(records) > 1:
        return "merge the SPF records into one: with two, SPF fails (RFC 7208)"
    terms = records[0].split()
    if _INCLUDE in (term.lower().lstrip("+") for term in terms):
        return ""
    # Receivers ignore everything after `all` or `redirect` (RFC 7208 section 5.1).
    end = next(
        (
            index
            for index, term in enumerate(terms)
            if term.lower().lstrip("+-~?") == "all" or term.lower().startswith("redirect=")
        ),
        len(terms),
    )
    return f"change it to: {' '.join([*terms[:end], _INCLUDE, *terms[end:]])}"


def _dmarc_advice(texts: Sequence[str]) -> str:
    match len(dmarc_records(texts)):
        case 0:
            return "replace the existing value: it is not a DMARC record"
        case 1:  # Its policy is the owner's choice.
            return ""
    return "keep one of the DMARC records: with two, receivers ignore both (RFC 7489)"


def _mx_advice(record: DnsRecord, values: Sequence[str]) -> str:
    hosts = {_name(value.split()[-1]) for value in values}
    if hosts == {_name(record.value.split()[-1])}:
        return ""
    # SES requires that its own MX is the only one.
    return "this name already receives mail: choose another MAIL FROM domain (--mail-from)"


def _name(name: str) -> str:
    return name.lower().rstrip(".")


#: SES itself checks every few minutes.
_POLL_INTERVAL: Final = timedelta(seconds=15)

type ForEachRecord = Callable[
    [Callable[[DnsRecord], RecordCheck], Sequence[DnsRecord]], Iterable[RecordCheck]
]


@dataclass(frozen=True, slots=True)
class Domain:
    """A sending domain at the provider, and the state of its DNS records."""

    identity: DomainIdentity
    records: tuple[RecordCheck, ...]

    @property
    def verified(self) -> bool:
        """Whether the provider has verified the domain, its DKIM keys and its MAIL FROM domain."""
        identity = self.identity
        return (
            identity.verified
            and identity.dkim == "SUCCESS"
            and identity.mail_from_status == "SUCCESS"
        )


@dataclass(frozen=True, slots=True)
class DomainCheck:
    """Reads a sending domain at the provider, and checks its records."""

    identities: DomainIdentities
    dns: DnsLookup
    #: Looks all records up, perhaps at the same time.
    for_each: ForEachRecord = map

    def show(self, name: str) -> Domain:
        return self.check_dns(self.identity(normalize_domain(name)))

    def identity(self, name: str) -> DomainIdentity:
        identity = self.identities.get(name)
        if identity is None:
            message = f"SES does not know {name}. Add it first: `pillarbox domain add {name}`"
            raise ValidationFailed(FieldError("domain", message, "unknown_domain"))
        return identity

    def check_dns(self, identity: DomainIdentity) -> Domain:
        return Domain(identity, self.check_records(required_records(identity)))

    def check_records(self, records: Sequence[DnsRecord]) -> tuple[RecordCheck, ...]:
        return tuple(self.for_each(self._check_record, records))

    def _check_record(self, record: DnsRecord) -> RecordCheck:
        values = self.dns.look_up(record.name, record.type)
        unknown = RecordCheck(record, RecordState.UNKNOWN)
        return unknown if values is None else compare(record, values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Domains:
    """The sending domains of the AWS account."""

    identities: DomainIdentities
    dns: DnsLookup
    zones: HostedZones
    clock: Clock
    pause: Callable[[float], None]

    def add(
        self, name: str, *, mail_from: str | None = None, create_records: bool = False
    ) -> Domain:
        """Register a domain at the provider, unless it is registered, and check its records.

        Args:
            name: the domain; non-ASCII labels become A-labels.
            mail_from: the label of the MAIL FROM domain below it. None keeps the current
                one, or uses `mail`.
            create_records: create missing records in the AWS account's hosted zone.
                Existing records stay unchanged; those that differ get advice.
        """
        name = normalize_domain(name)
        mail_from_domain = normalize_domain(f"{mail_from or MAIL_FROM_LABEL}.{name}", "mail-from")
        zone = self._hosted_zone(name) if create_records else None
        identity = self.identities.add(name)
        if identity.mail_from is None or (mail_from and identity.mail_from != mail_from_domain):
            self.identities.set_mail_from(name, mail_from_domain)
            identity = self._check.identity(name)
        if zone is None:
            return self._check.check_dns(identity)
        return Domain(identity, self._create_missing(zone, required_records(identity)))

    def show(self, name: str) -> Domain:
        return self._check.show(name)

    def wait(self, name: str, at_most: timedelta) -> Domain:
        """Check a domain repeatedly until it is verified or the time is over.

        The provider then mails no bounces and complaints to its senders.
        """
        end = self.clock() + at_most
        while True:
            domain = self.show(name)
            remaining = end - self.clock()
            if domain.verified or remaining <= timedelta(0):
                identity = self.identities.ensure_no_feedback_mail(domain.identity)
                return replace(domain, identity=identity)
            self.pause(min(remaining, _POLL_INTERVAL).total_seconds())

    @property
    def _check(self) -> DomainCheck:
        return DomainCheck(self.identities, self.dns)

    def _hosted_zone(self, name: str) -> HostedZone:
        zones = self.zones.zones_for(name)
        if len(zones) == 1:
            return zones[0]
        message = (
            f"this AWS account has {len(zones)} hosted zones {zones[0].name}, and DNS uses only one"
            if zones
            else f"no public hosted zone of this AWS account contains {name}"
        )
        raise ValidationFailed(
            FieldError("route53", f"{message}: create the records by hand", "zone_not_found")
        )

    def _create_missing(
        self, zone: HostedZone, required: tuple[DnsRecord, ...]
    ) -> tuple[RecordCheck, ...]:
        checks = [self._check_zone(zone, record) for record in required]
        missing = [check.record for check in checks if check.state is RecordState.MISSING]
        if missing:
            self.zones.create(zone, missing)
        return tuple(
            RecordCheck(check.record, RecordState.CREATED)
            if check.state is RecordState.MISSING
            else check
            for check in checks
        )

    def _check_zone(self, zone: HostedZone, record: DnsRecord) -> RecordCheck:
        values = self.zones.values_at(zone, record.name)
        # A name with a CNAME has no other records (RFC 1034 section 3.6.2).
        conflicts = [kind for kind in values if (kind == "CNAME") != (record.type == "CNAME")]
        if conflicts:
            advice = f"remove the existing records of this name: {', '.join(conflicts)}"
            return RecordCheck(record, RecordState.DIFFERS, advice)
        if record.type in values and not values[record.type]:
            return RecordCheck(record, RecordState.DIFFERS, "replace the alias")
        return compare(record, values.get(record.type, ()))


#: How old a description by the provider may be: it answers about one such question a second.
_PENDING_AGE: Final = timedelta(seconds=8)
_VERIFIED_AGE: Final = timedelta(minutes=10)
#: What the provider says of DKIM when it no longer looks for the records.
GIVEN_UP: Final = "FAILED"
#: How long a proof counts without another look at DNS, and how often a new look is stored.
PROOF_COUNTS: Final = timedelta(days=90)
_PROOF_STORED: Final = timedelta(days=1)
_DAY: Final = timedelta(days=1)
#: The provider's own domain, which is on no list of shared ones.
_OF_PROVIDER: Final = "amazonses.com"


@dataclass(frozen=True, slots=True)
class CheckedDomain:
    """A domain of an account, and the state of its DNS records."""

    domain: AccountDomain
    records: tuple[RecordCheck, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountDomains:
    """The domains of all accounts. `by` is who adds or removes one: see `LogEntry`."""

    records: AccountDomainRecords
    accounts: AccountRecords
    check: DomainCheck
    slow_requests: SlowRequests
    #: Counts something in a window of time; returns False if there were so many.
    count: Callable[[str, timedelta, int, datetime], bool]
    #: Returns the part of a domain that somebody registered; None if many owners share it.
    registrable_domain: Callable[[str], str | None]
    log: ChangeLog
    clock: Clock

    def add(
        self, account_id: str, name: str, mail_from: str = MAIL_FROM_LABEL, *, by: str
    ) -> AccountDomain:
        """Add a domain to an account, or return the one that it has.

        `mail_from` is the label of its MAIL FROM domain. It counts if the domain is new to the
        provider, since accounts share it there.
        """
        name = normalize_domain(name)
        normalize_domain(f"{mail_from}.{name}", "mailFrom")
        if self.registrable_domain(name) in {None, _OF_PROVIDER}:
            message = "is shared by many owners: add a domain of your own"
            raise ValidationFailed(FieldError("domain", message, "invalid_domain"))
        existing = self.records.of_account(account_id)
        if known := next((one for one in existing if one.name == name), None):
            return known
        if len(existing) >= MAX_DOMAINS:
            raise limit_exceeded("domain_limit_exceeded", MAX_DOMAINS, "domains")
        now = self.clock()
        if not self.count(f"domains#{account_id}", _DAY, MAX_ADDED_DOMAINS, now):
            message = f"An account can add {MAX_ADDED_DOMAINS} domains a day. Try again tomorrow."
            raise ServiceError("rate_limit_exceeded", message)
        added = self.records.add(
            AccountDomain(
                account_id=account_id,
                identity=unregistered(name),
                added_at=now,
                checked_at=now,
                mail_from_label=mail_from.lower(),
            )
        )
        self.log.note(account_id, AccountAction.DOMAIN_ADDED, name, by=by)
        return added

    def of_account(self, account_id: str) -> Sequence[AccountDomain]:
        """Read an account's domains, sorted by name, and ask about the stalest one."""
        domains = self.records.of_account(account_id)
        known = [one for one in domains if one.proved_at or one.identity.is_registered]
        stalest = min(known, key=lambda one: one.checked_at, default=None)
        fresh = self._refresh(self._with_valid_proof(stalest)) if stalest else None
        return [fresh if fresh and one.name == fresh.name else one for one in domains]

    def show(self, account_id: str, name: str) -> CheckedDomain:
        """Read a domain of an account, and check its records in DNS."""
        self.slow_requests.take(account_id)
        return self.look(account_id, name)

    def look(self, account_id: str, name: str) -> CheckedDomain:
        """Do what `show` does, for a caller that limits how often."""
        domain = self._refresh(self.get(account_id, name))
        records = records_of(domain)
        # The first record is the proof.
        proof, *others = self.check.check_records(records)
        domain = self._refresh(self._after_look(domain, proof.state))
        if records_of(domain) != records:
            others = [*self.check.check_records(records_of(domain)[1:])]
        return CheckedDomain(domain, (proof, *others))

    def restart(self, account_id: str, name: str) -> CheckedDomain:
        """Let the provider look for the DKIM records again, if it has given up.

        That takes a new identity, perhaps with other keys (docs/decisions/accounts.md). Accounts
        share it, so only one that has proved the domain may do so, and a domain that works stays
        as it is.
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
            mail_from = identity.mail_from or f"{domain.mail_from_label}.{domain.name}"
            identities.set_mail_from(domain.name, normalize_domain(mail_from))
            identity = self.check.identity(domain.name)
        identity = identity or self._register(domain)
        self.records.update(replace(domain, identity=identity, checked_at=now))
        return self.look(account_id, name)

    def remove(self, account_id: str, name: str, *, by: str) -> None:
        """Remove a domain from an account.

        The provider keeps it if it is verified, because the operator may use it, or if another
        account has proved it.
        """
        domain = self.get(account_id, name)
        name = domain.name
        senders = [
            address
            for address in sorted(find_account(self.accounts, account_id).senders)
            if name in domain_and_parents(domain_of(address))
        ]
        if senders:
            message = f"Senders of the account use {name}. Remove them first."
            raise ServiceError("domain_in_use", message, details={"senders": [*senders]})
        if domain.receives:
            message = f"{domain.receives} receives mail. Switch that off first."
            raise ServiceError("domain_in_use", message, details={"senders": []})
        if domain.proved_at and not {*self.records.owners(name)} - {account_id}:
            identity = self.check.identities.get(name)
            if identity and not identity.verified:
                # An account that proves it at this moment registers it again at its next look.
                self.check.identities.remove(name)
        if not self.records.remove(account_id, name):
            raise domain_not_found()
        self.log.note(account_id, AccountAction.DOMAIN_REMOVED, name, by=by)

    def has_verified(self, account_id: str, name: str) -> bool:
        """Return whether an account can send from a domain: it or a parent domain is verified."""
        names = domain_and_parents(name)
        return any(
            domain.name in names
            and domain.state is DomainState.VERIFIED
            and self._with_valid_proof(domain).proved_at
            for domain in self.records.of_account(account_id)
        )

    def _with_valid_proof(self, domain: AccountDomain) -> AccountDomain:
        """Look at DNS again if the last look was long ago. Without an answer the proof stays."""
        seen = domain.proof_seen_at or domain.proved_at
        if seen is None or self.clock() - seen < PROOF_COUNTS:
            return domain
        (proof,) = self.check.check_records(records_of(domain)[:1])
        return self._after_look(domain, proof.state)

    def _after_look(self, domain: AccountDomain, proof: RecordState) -> AccountDomain:
        """Store what a look at the proof in DNS changes, and return the new state."""
        now = self.clock()
        seen = domain.proof_seen_at or domain.proved_at
        if proof is RecordState.PRESENT and (seen is None or now - seen > _PROOF_STORED):
            proved = replace(domain, proved_at=domain.proved_at or now, proof_seen_at=now)
            stored = self.records.update(proved) or proved
            if seen is None:
                self._end_lost_proofs(domain)
            return stored
        is_lost = proof in {RecordState.MISSING, RecordState.DIFFERS}
        if is_lost and seen and now - seen >= PROOF_COUNTS:
            return self._end_proof(domain)
        return domain

    def _end_lost_proofs(self, proved: AccountDomain) -> None:
        """End the proofs of other accounts whose records are gone: the domain changed hands.

        With the proof of its new owner the provider would send for the old one again.
        """
        for account_id in self.records.owners(proved.name):
            domain = self.records.get(account_id, proved.name)
            if account_id == proved.account_id or domain is None or not domain.proved_at:
                continue
            (proof,) = self.check.check_records(records_of(domain)[:1])
            if proof.state in {RecordState.MISSING, RecordState.DIFFERS}:
                self._end_proof(domain)

    def _end_proof(self, domain: AccountDomain) -> AccountDomain:
        """End a proof, and with it what the account sends from."""
        ended = self.records.end_proof(domain)
        if ended is None:
            return domain
        self.log.note(domain.account_id, AccountAction.DOMAIN_LOST, domain.name, by=SERVICE)
        senders = find_account(self.accounts, domain.account_id).senders
        for address in senders:
            name = domain_of(address)
            is_of_it = domain.name in domain_and_parents(name)
            if is_of_it and not self.has_verified(domain.account_id, name):
                self.accounts.put_sender(domain.account_id, address, verified=False, default=False)
        return ended

    def get(self, account_id: str, name: str) -> AccountDomain:
        """Read a domain as it was seen last."""
        try:
            domain = self.records.get(account_id, normalize_domain(name))
        except ValidationFailed:
            domain = None
        if domain is None:
            raise domain_not_found()
        return domain

    def _register(self, domain: AccountDomain) -> DomainIdentity:
        """Register a domain that the provider did not know just now."""
        identity = self.check.identities.add(domain.name)
        if identity.mail_from is not None:
            return identity  # another request was first
        mail_from = normalize_domain(f"{domain.mail_from_label}.{domain.name}")
        self.check.identities.set_mail_from(domain.name, mail_from)
        return self.check.identity(domain.name)

    def _refresh(self, domain: AccountDomain) -> AccountDomain:
        """Ask the provider about a domain, unless the last answer is fresh or none comes.

        It gets to know a domain that the account has proved, also if the operator deleted it there.
        """
        now = self.clock()
        is_verified = domain.state is DomainState.VERIFIED
        is_new = domain.proved_at is not None and not domain.identity.is_registered
        if not (is_new or domain.identity.is_registered):
            return domain
        if not is_new and now - domain.checked_at < (
            _VERIFIED_AGE if is_verified else _PENDING_AGE
        ):
            return domain
        try:
            identity = self.check.identities.get(domain.name)
            if identity is None:
                identity = self._register(domain) if domain.proved_at else unregistered(domain.name)
            elif domain.proved_at:
                identity = self.check.identities.ensure_no_feedback_mail(identity)
        except ValidationFailed:
            # The page says that it failed, and "Check again" shows why.
            identity = replace(unregistered(domain.name), dkim=GIVEN_UP)
        except ServiceError:
            # `checked_at` says how old the answer is.
            return domain
        fresh = replace(domain, identity=identity, checked_at=now)
        return self.records.update(fresh) or fresh


@dataclass(frozen=True, slots=True)
class MemberSenders:
    """The senders that members of an account manage: addresses of its verified domains."""

    senders: Senders
    domains: AccountDomains
    log: ChangeLog

    def add(self, account_id: str, address: str, *, by: str) -> AccountSender:
        """Add a sender. The first one becomes the default."""
        address = normalize_sender(address)
        self.domains.slow_requests.take(account_id)
        if not self.domains.has_verified(account_id, domain_of(address)):
            message = "its domain is not a verified domain of the account"
            raise ValidationFailed(FieldError("address", message, "unverified_domain"))
        sender = self.senders.add(account_id, address, verified=True)
        self.log.note(account_id, AccountAction.SENDER_ADDED, sender.address, by=by)
        return sender

    def remove(self, account_id: str, address: str, *, by: str) -> None:
        """Remove a sender, as `Senders.remove`."""
        removed = self.senders.remove(account_id, address)
        self.log.note(account_id, AccountAction.SENDER_REMOVED, removed, by=by)


def records_of(domain: AccountDomain) -> tuple[DnsRecord, ...]:
    """Return the records that a domain needs; the first one proves that the account controls it.

    The others are known when the provider knows the domain, so after the proof.
    """
    proof = ownership_record(domain.account_id, domain.name)
    others = required_records(domain.identity) if domain.identity.is_registered else ()
    answers = (receiving_record(domain.identity, domain.receives),) if domain.receives else ()
    return (proof, *others, *answers)


def receiving_record(identity: DomainIdentity, name: str) -> DnsRecord:
    return DnsRecord("ANSWERS", "MX", name, f"10 {identity.inbound_host}")


def domain_not_found() -> ServiceError:
    return ServiceError("domain_not_found", "The account has no such domain.")
