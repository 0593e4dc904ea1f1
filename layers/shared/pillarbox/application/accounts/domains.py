"""Setting up the domains that mail comes from: DKIM, MAIL FROM, SPF and DMARC."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pillarbox.application.accounts.dns_records import (
    RecordState,
    State,
    compare,
    wanted_records,
)
from pillarbox.application.accounts.ports import (
    DnsLookup,
    DnsRecord,
    DomainIdentities,
    DomainIdentity,
    Zone,
    Zones,
)
from pillarbox.application.ports import Clock
from pillarbox.application.validation import normalize_domain
from pillarbox.domain.errors import FieldFault, ValidationFailed

#: The MAIL FROM domain is this one under the domain, unless another is chosen.
_MAIL_FROM: Final = "mail"
#: SES itself looks every few minutes.
_LOOK_EVERY: Final = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain at the provider, and its records in the DNS or in the zone."""

    identity: DomainIdentity
    records: tuple[RecordState, ...]

    @property
    def verified(self) -> bool:
        """Whether mail is signed with the domain's keys and bounces come to its MAIL FROM."""
        identity = self.identity
        return (
            identity.verified
            and identity.dkim == "SUCCESS"
            and identity.mail_from_status == "SUCCESS"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Domains:
    """The domains of the account at the delivery provider."""

    identities: DomainIdentities
    dns: DnsLookup
    zones: Zones
    clock: Clock
    pause: Callable[[float], None]

    def add(
        self, name: str, *, mail_from: str | None = None, create_records: bool = False
    ) -> Domain:
        """Make a domain known to the provider, or look again at one that is.

        Args:
            name: the domain; labels beyond ASCII become A-labels.
            mail_from: the label of the MAIL FROM domain under it. None leaves
                one that is set, else it is `mail`.
            create_records: create what is missing in the account's hosted zone;
                what is there stays as it is, with advice where it differs.

        Raises:
            ValidationFailed: on `domain` or `mail-from`; on `route53`, when not
                exactly one hosted zone can be meant.
        """
        name = normalize_domain(name)
        envelope = normalize_domain(f"{mail_from or _MAIL_FROM}.{name}", "mail-from")
        zone = self._zone(name) if create_records else None
        identity = self.identities.add(name)
        if identity.mail_from is None or (mail_from and identity.mail_from != envelope):
            self.identities.set_mail_from(name, envelope)
            identity = self._known(name)
        if zone is None:
            return self._seen(identity)
        return Domain(identity, self._create(zone, wanted_records(identity)))

    def show(self, name: str) -> Domain:
        """Look at a domain and at its records in the DNS.

        Raises:
            ValidationFailed: on `domain`, also when the provider does not know it.
        """
        return self._seen(self._known(normalize_domain(name)))

    def wait(self, name: str, at_most: timedelta) -> Domain:
        """Look until a domain is verified, or the time is over.

        Raises:
            ValidationFailed: on `domain`, also when the provider does not know it.
        """
        end = self.clock() + at_most
        while True:
            domain = self.show(name)
            left = end - self.clock()
            if domain.verified or left <= timedelta(0):
                return domain
            self.pause(min(left, _LOOK_EVERY).total_seconds())

    def _known(self, name: str) -> DomainIdentity:
        identity = self.identities.get(name)
        if identity is None:
            message = f"SES does not know {name}: begin with `pillarbox domain add {name}`"
            raise ValidationFailed(FieldFault("domain", message, "unknown_domain"))
        return identity

    def _seen(self, identity: DomainIdentity) -> Domain:
        records = []
        for record in wanted_records(identity):
            found = self.dns.look_up(record.name, record.type)
            unknown = RecordState(record, State.UNKNOWN)
            records.append(unknown if found is None else compare(record, found))
        return Domain(identity, tuple(records))

    def _zone(self, name: str) -> Zone:
        zones = self.zones.holding(name)
        if len(zones) == 1:
            return zones[0]
        message = (
            f"there are {len(zones)} hosted zones {zones[0].name}, of which the DNS asks one"
            if zones
            else f"no public hosted zone of this account holds {name}"
        )
        raise ValidationFailed(
            FieldFault("route53", f"{message}: create the records by hand", "zone_not_found")
        )

    def _create(self, zone: Zone, wanted: tuple[DnsRecord, ...]) -> tuple[RecordState, ...]:
        states = [self._in_zone(zone, record) for record in wanted]
        missing = [each.record for each in states if each.state is State.MISSING]
        if missing:
            self.zones.create(zone, missing)
        return tuple(
            RecordState(each.record, State.CREATED) if each.state is State.MISSING else each
            for each in states
        )

    def _in_zone(self, zone: Zone, record: DnsRecord) -> RecordState:
        there = self.zones.values(zone, record.name)
        # A CNAME stands alone at its name (RFC 1034 section 3.6.2).
        others = [kind for kind in there if (kind == "CNAME") != (record.type == "CNAME")]
        if others:
            advice = f"remove what is at this name: {', '.join(others)}"
            return RecordState(record, State.DIFFERS, advice)
        if record.type in there and not there[record.type]:
            return RecordState(record, State.DIFFERS, "replace the alias")
        return compare(record, there.get(record.type, ()))
