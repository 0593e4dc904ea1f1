"""Setting up a domain, from the identity at SES to the DNS records."""

from datetime import timedelta

import pytest

from pillarbox.application.accounts.dns_records import SPF, RecordState, required_records
from pillarbox.application.accounts.domains import Domain, Domains
from pillarbox.application.accounts.ports import HostedZone
from pillarbox.domain.errors import ValidationFailed
from tests.fakes.builders import NOW
from tests.refusals import faults
from tests.unit.admin.domain_fakes import FakeDns, FakeDomains, FakeZones
from tests.unit.admin.domain_port_suites import AddZone, DomainIdentitiesSuite, HostedZonesSuite
from tests.unit.admin.use_cases import errors


class DomainSetup:
    """The use case over its fakes. Time passes only in pauses."""

    def __init__(self) -> None:
        self.identities, self.dns, self.zones = FakeDomains(), FakeDns(), FakeZones()
        self.now = NOW
        self.pauses: list[float] = []
        self.domains = Domains(
            identities=self.identities,
            dns=self.dns,
            zones=self.zones,
            clock=lambda: self.now,
            pause=self.pause,
        )

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def setup() -> DomainSetup:
    return DomainSetup()


def states(domain: Domain) -> dict[str, str]:
    return {check.record.purpose: check.state.value for check in domain.records}


class TestFakeDomains(DomainIdentitiesSuite):
    @pytest.fixture
    def identities(self) -> FakeDomains:
        return FakeDomains()


class TestFakeZones(HostedZonesSuite):
    @pytest.fixture
    def zones(self) -> FakeZones:
        return FakeZones()

    @pytest.fixture
    def add_zone(self, zones: FakeZones) -> AddZone:
        return lambda name: zones.zones.append(HostedZone(f"Z{len(zones.zones)}", name))


def test_a_new_domain_shows_what_is_missing(setup: DomainSetup) -> None:
    domain = setup.domains.add("Shop.Example")
    assert domain.identity.name == "shop.example"
    assert domain.identity.mail_from == "mail.shop.example"
    assert set(states(domain).values()) == {"missing"}
    assert len(domain.records) == 7
    assert not domain.verified


def test_an_international_name_becomes_a_labels(setup: DomainSetup) -> None:
    """An international name is converted to A-labels, because DNS and SES know no others."""
    assert setup.domains.add("bücher.example").identity.name == "xn--bcher-kva.example"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("pаypal.example", "mixed_scripts"),  # noqa: RUF001  a Cyrillic a is the point
        ("xn--pypal-4ve.example", "mixed_scripts"),
        ("a@shop.example", "invalid_domain"),
        ("shop", "invalid_domain"),
        ("[192.0.2.1]", "invalid_domain"),
        ("", "invalid_domain"),
        ("-.example", "invalid_domain"),
    ],
)
def test_an_invalid_or_misleading_name_is_refused(setup: DomainSetup, name: str, code: str) -> None:
    assert faults(setup.domains.add, name) == [("domain", code)]
    assert setup.identities.identities == {}


def test_the_mail_from_domain_can_be_chosen_and_stays(setup: DomainSetup) -> None:
    assert setup.domains.add("shop.example", mail_from="bounce").identity.mail_from == (
        "bounce.shop.example"
    )
    assert setup.domains.add("shop.example").identity.mail_from == "bounce.shop.example"
    assert setup.domains.add("shop.example", mail_from="b2").identity.mail_from == (
        "b2.shop.example"
    )
    assert faults(setup.domains.add, "shop.example", mail_from="no label") == [
        ("mail-from", "invalid_domain")
    ]


def test_a_domain_that_ses_does_not_know_is_not_shown(setup: DomainSetup) -> None:
    with pytest.raises(ValidationFailed, match=r"pillarbox domain add shop\.example") as refused:
        setup.domains.show("shop.example")
    assert errors(refused) == [("domain", "unknown_domain")]
    assert setup.identities.identities == {}


def test_records_are_compared_with_dns(setup: DomainSetup) -> None:
    setup.domains.add("shop.example")
    identity = setup.identities.identities["shop.example"]
    setup.dns.add(*required_records(identity)[:4])
    setup.dns.records["shop.example", "TXT"] = ["v=spf1 mx ~all"]
    assert states(setup.domains.show("shop.example")) == {
        "DKIM": "present",
        "MAIL FROM": "present",
        "MAIL FROM SPF": "missing",
        "SPF": "differs",
        "DMARC": "missing",
    }
    assert set(states(setup.domains.add("broken.example")).values()) == {"unknown"}


def test_missing_records_are_created_in_the_nearest_zone(setup: DomainSetup) -> None:
    setup.zones.zones = [HostedZone("Z1", "example"), HostedZone("Z2", "shop.example")]
    first = setup.domains.add("shop.example", create_records=True)
    assert set(states(first).values()) == {"created"}
    assert {zone for zone, _ in setup.zones.values} == {"Z2"}
    again = setup.domains.add("shop.example", create_records=True)
    assert set(states(again).values()) == {"present"}


def test_existing_records_are_never_changed(setup: DomainSetup) -> None:
    setup.zones.zones = [HostedZone("Z1", "shop.example")]
    existing: dict[tuple[str, str], dict[str, list[str]]] = {
        ("Z1", "shop.example"): {"TXT": ["v=spf1 mx -all"], "NS": ["ns.example"]},
        ("Z1", "_dmarc.shop.example"): {"TXT": ["v=DMARC1; p=reject"]},
        ("Z1", "mail.shop.example"): {"CNAME": ["webmail.example"]},
        ("Z1", "token1._domainkey.shop.example"): {"TXT": ["v=DKIM1; p="]},
        ("Z1", "token2._domainkey.shop.example"): {"CNAME": []},
    }
    setup.zones.values = {key: dict(value) for key, value in existing.items()}
    domain = setup.domains.add("shop.example", create_records=True)
    checks = {f"{check.record.name} {check.record.type}": check for check in domain.records}
    assert checks["shop.example TXT"].advice == (
        "change it to: v=spf1 mx include:amazonses.com -all"
    )
    assert checks["_dmarc.shop.example TXT"].state is RecordState.PRESENT
    assert (
        checks["mail.shop.example MX"].advice == "remove the existing records of this name: CNAME"
    )
    assert checks["mail.shop.example TXT"].state is RecordState.DIFFERS
    assert checks["token1._domainkey.shop.example CNAME"].state is RecordState.DIFFERS
    assert checks["token2._domainkey.shop.example CNAME"].advice == "replace the alias"
    assert checks["token3._domainkey.shop.example CNAME"].state is RecordState.CREATED
    assert {key: value for key, value in setup.zones.values.items() if key in existing} == existing
    assert SPF not in str(setup.zones.values["Z1", "shop.example"])


@pytest.mark.parametrize(
    ("zones", "message"), [([], "no public hosted zone"), (["shop.example"] * 2, "2 hosted zones")]
)
def test_without_exactly_one_zone_nothing_is_done(
    setup: DomainSetup, zones: list[str], message: str
) -> None:
    setup.zones.zones = [HostedZone(f"Z{n}", name) for n, name in enumerate(zones)]
    with pytest.raises(ValidationFailed, match=message) as refused:
        setup.domains.add("shop.example", create_records=True)
    assert errors(refused) == [("route53", "zone_not_found")]
    assert setup.identities.identities == {}


def test_waiting_ends_when_the_domain_is_verified(setup: DomainSetup) -> None:
    setup.domains.add("shop.example")
    setup.identities.verify("shop.example")
    assert setup.domains.wait("shop.example", timedelta(minutes=5)).verified
    assert setup.pauses == []


def test_waiting_ends_when_the_time_is_over(setup: DomainSetup) -> None:
    setup.domains.add("shop.example")
    assert not setup.domains.wait("shop.example", timedelta(seconds=40)).verified
    assert setup.pauses == [15, 15, 10]
    setup.pauses.clear()
    assert not setup.domains.wait("shop.example", timedelta(0)).verified
    assert setup.pauses == []
