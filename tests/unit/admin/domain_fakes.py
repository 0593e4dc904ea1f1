"""The provider's domains, the DNS and hosted zones over plain dicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pillarbox.application.accounts.ports import DnsRecord, DomainIdentity, Zone

TOKENS = ("token1", "token2", "token3")


@dataclass
class FakeDomains:
    """Fulfils `DomainIdentities`; `settle` is SES finding the records."""

    kept: dict[str, DomainIdentity] = field(default_factory=dict)

    def get(self, name: str) -> DomainIdentity | None:
        return self.kept.get(name)

    def add(self, name: str) -> DomainIdentity:
        return self.kept.setdefault(
            name,
            DomainIdentity(
                name=name,
                verified=False,
                dkim="PENDING",
                dkim_tokens=TOKENS,
                dkim_zone="dkim.amazonses.com",
                mail_from=None,
                mail_from_status=None,
                feedback_host="feedback-smtp.eu-west-1.amazonses.com",
            ),
        )

    def set_mail_from(self, name: str, mail_from: str) -> None:
        self.kept[name] = replace(self.kept[name], mail_from=mail_from, mail_from_status="PENDING")

    def settle(self, name: str) -> None:
        self.kept[name] = replace(
            self.kept[name], verified=True, dkim="SUCCESS", mail_from_status="SUCCESS"
        )


@dataclass
class FakeDns:
    """Fulfils `DnsLookup`; gives no answer for what is under `broken`."""

    kept: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def look_up(self, name: str, kind: str) -> Sequence[str] | None:
        return None if name.endswith("broken.example") else self.kept.get((name, kind), [])

    def hold(self, *records: DnsRecord) -> None:
        for record in records:
            self.kept.setdefault((record.name, record.type), []).append(record.value)


@dataclass
class FakeZones:
    """Fulfils `Zones`."""

    zones: list[Zone] = field(default_factory=list)
    kept: dict[tuple[str, str], dict[str, list[str]]] = field(default_factory=dict)

    def holding(self, name: str) -> Sequence[Zone]:
        holding = [zone for zone in self.zones if f".{name}".endswith(f".{zone.name}")]
        longest = max((len(zone.name) for zone in holding), default=0)
        return [zone for zone in holding if len(zone.name) == longest]

    def values(self, zone: Zone, name: str) -> Mapping[str, Sequence[str]]:
        return self.kept.get((zone.zone_id, name), {})

    def create(self, zone: Zone, records: Sequence[DnsRecord]) -> None:
        for record in records:
            at_name = self.kept.setdefault((zone.zone_id, record.name), {})
            assert record.type not in at_name
            at_name[record.type] = [record.value]
