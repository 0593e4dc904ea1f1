"""Set up sending domains: DKIM, MAIL FROM, SPF and DMARC."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from pillarbox.application.accounts.dns_records import (
    RecordCheck,
    RecordState,
    compare,
    required_records,
)
from pillarbox.application.accounts.ports import (
    DnsLookup,
    DnsRecord,
    DomainIdentities,
    HostedZone,
    HostedZones,
)
from pillarbox.application.ports import Clock
from pillarbox.application.validation import normalize_domain
from pillarbox.domain.accounts.account_domain import MAIL_FROM_LABEL, DomainIdentity
from pillarbox.domain.errors import FieldError, ValidationFailed

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
        """Read a domain and check its records in DNS.

        Raises:
            ValidationFailed: on `domain`, also if the provider does not know it.
        """
        return self.check_dns(self.identity(normalize_domain(name)))

    def identity(self, name: str) -> DomainIdentity:
        """Read a domain at the provider.

        Raises:
            ValidationFailed: on `domain`, if the provider does not know it.
        """
        identity = self.identities.get(name)
        if identity is None:
            message = f"SES does not know {name}. Add it first: `pillarbox domain add {name}`"
            raise ValidationFailed(FieldError("domain", message, "unknown_domain"))
        return identity

    def check_dns(self, identity: DomainIdentity) -> Domain:
        """Compare the records of a domain with those in DNS."""
        return Domain(identity, self.check_records(required_records(identity)))

    def check_records(self, records: Sequence[DnsRecord]) -> tuple[RecordCheck, ...]:
        """Compare some records with those in DNS."""
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

        Raises:
            ValidationFailed: on `domain` or `mail-from`; on `route53`, unless exactly one
                hosted zone contains the domain.
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
        """Read a domain and check its records in DNS.

        Raises:
            ValidationFailed: on `domain`, also if the provider does not know it.
        """
        return self._check.show(name)

    def wait(self, name: str, at_most: timedelta) -> Domain:
        """Check a domain repeatedly until it is verified or the time is over.

        The provider then mails no bounces and complaints to its senders.

        Raises:
            ValidationFailed: on `domain`, also if the provider does not know it.
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
