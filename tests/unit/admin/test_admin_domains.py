"""Setting up a domain, from the provider's identity to the records of the DNS."""

from datetime import timedelta

import pytest

from pillarbox.application.accounts.dns_records import SPF, RecordState, required_records
from pillarbox.application.accounts.domains import Domain, Domains
from pillarbox.application.accounts.ports import HostedZone
from pillarbox.domain.errors import ValidationFailed
from tests.unit.admin.domain_fakes import FakeDns, FakeDomains, FakeZones
from tests.unit.admin.domain_port_suites import AddZone, DomainIdentitiesSuite, HostedZonesSuite
from tests.unit.admin.fakes import NOW
from tests.unit.admin.use_cases import faults


class Setting:
    """The use-case over its fakes; time passes by pauses alone."""

    def __init__(self) -> None:
        self.provider, self.dns, self.zones = FakeDomains(), FakeDns(), FakeZones()
        self.now = NOW
        self.pauses: list[float] = []
        self.domains = Domains(
            identities=self.provider,
            dns=self.dns,
            zones=self.zones,
            clock=lambda: self.now,
            pause=self.pause,
        )

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def setting() -> Setting:
    return Setting()


def states(domain: Domain) -> dict[str, str]:
    return {each.record.purpose: each.state.value for each in domain.records}


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


def test_a_new_domain_shows_what_is_missing(setting: Setting) -> None:
    """The domain is known from then on, with a MAIL FROM domain; every record is missing."""
    domain = setting.domains.add("Shop.Example")
    assert domain.identity.name == "shop.example"
    assert domain.identity.mail_from == "mail.shop.example"
    assert set(states(domain).values()) == {"missing"}
    assert len(domain.records) == 7
    assert not domain.verified


def test_an_international_name_is_written_in_a_labels(setting: Setting) -> None:
    """The DNS and SES know A-labels alone."""
    assert setting.domains.add("bücher.example").identity.name == "xn--bcher-kva.example"


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
def test_a_name_made_to_be_misread_is_refused(setting: Setting, name: str, code: str) -> None:
    """Mixed scripts, in letters or in A-labels, and what is no domain: SES is not asked."""
    with pytest.raises(ValidationFailed) as refused:
        setting.domains.add(name)
    assert faults(refused) == [("domain", code)]
    assert setting.identities.identities == {}


def test_the_mail_from_domain_can_be_chosen_and_stays(setting: Setting) -> None:
    """Another label is taken; adding without one leaves it, with another one changes it."""
    assert setting.domains.add("shop.example", mail_from="bounce").identity.mail_from == (
        "bounce.shop.example"
    )
    assert setting.domains.add("shop.example").identity.mail_from == "bounce.shop.example"
    assert setting.domains.add("shop.example", mail_from="b2").identity.mail_from == (
        "b2.shop.example"
    )
    with pytest.raises(ValidationFailed) as refused:
        setting.domains.add("shop.example", mail_from="no label")
    assert faults(refused) == [("mail-from", "invalid_domain")]


def test_a_domain_that_ses_does_not_know_is_told(setting: Setting) -> None:
    """Showing makes nothing known; it says how to begin."""
    with pytest.raises(ValidationFailed, match=r"pillarbox domain add shop\.example") as refused:
        setting.domains.show("shop.example")
    assert faults(refused) == [("domain", "unknown_domain")]
    assert setting.identities.identities == {}


def test_records_are_looked_up_in_the_dns(setting: Setting) -> None:
    """What is there is present, what differs has advice, and silence is unknown."""
    setting.domains.add("shop.example")
    identity = setting.identities.identities["shop.example"]
    setting.dns.add(*required_records(identity)[:4])
    setting.dns.records["shop.example", "TXT"] = ["v=spf1 mx ~all"]
    assert states(setting.domains.show("shop.example")) == {
        "DKIM": "present",
        "MAIL FROM": "present",
        "MAIL FROM SPF": "missing",
        "SPF": "differs",
        "DMARC": "missing",
    }
    assert set(states(setting.domains.add("broken.example")).values()) == {"unknown"}


def test_missing_records_are_created_in_the_nearest_zone(setting: Setting) -> None:
    """Each record is created once; a second run finds them and creates none."""
    setting.zones.zones = [HostedZone("Z1", "example"), HostedZone("Z2", "shop.example")]
    first = setting.domains.add("shop.example", create_records=True)
    assert set(states(first).values()) == {"created"}
    assert {zone for zone, _ in setting.zones.values} == {"Z2"}
    again = setting.domains.add("shop.example", create_records=True)
    assert set(states(again).values()) == {"present"}


def test_records_that_are_there_are_never_changed(setting: Setting) -> None:
    """Other texts, another policy, a CNAME, an alias: each stays, with advice or for good."""
    setting.zones.zones = [HostedZone("Z1", "shop.example")]
    there: dict[tuple[str, str], dict[str, list[str]]] = {
        ("Z1", "shop.example"): {"TXT": ["v=spf1 mx -all"], "NS": ["ns.example"]},
        ("Z1", "_dmarc.shop.example"): {"TXT": ["v=DMARC1; p=reject"]},
        ("Z1", "mail.shop.example"): {"CNAME": ["webmail.example"]},
        ("Z1", "token1._domainkey.shop.example"): {"TXT": ["v=DKIM1; p="]},
        ("Z1", "token2._domainkey.shop.example"): {"CNAME": []},
    }
    setting.zones.values = {key: dict(value) for key, value in there.items()}
    domain = setting.domains.add("shop.example", create_records=True)
    found = {each.record.name + " " + each.record.type: each for each in domain.records}
    assert found["shop.example TXT"].advice == (
        "change it to: v=spf1 mx include:amazonses.com -all"
    )
    assert found["_dmarc.shop.example TXT"].state is RecordState.PRESENT
    assert found["mail.shop.example MX"].advice == "remove what is at this name: CNAME"
    assert found["mail.shop.example TXT"].state is RecordState.DIFFERS
    assert found["token1._domainkey.shop.example CNAME"].state is RecordState.DIFFERS
    assert found["token2._domainkey.shop.example CNAME"].advice == "replace the alias"
    assert found["token3._domainkey.shop.example CNAME"].state is RecordState.CREATED
    assert {key: value for key, value in setting.zones.values.items() if key in there} == there
    assert SPF not in str(setting.zones.values["Z1", "shop.example"])


@pytest.mark.parametrize(
    ("zones", "said"), [([], "no public hosted zone"), (["shop.example"] * 2, "2 hosted zones")]
)
def test_without_one_zone_nothing_is_done(setting: Setting, zones: list[str], said: str) -> None:
    """No zone, or two of one name: the operator creates the records, and SES is not asked."""
    setting.zones.zones = [HostedZone(f"Z{n}", name) for n, name in enumerate(zones)]
    with pytest.raises(ValidationFailed, match=said) as refused:
        setting.domains.add("shop.example", create_records=True)
    assert faults(refused) == [("route53", "zone_not_found")]
    assert setting.identities.identities == {}


def test_waiting_ends_when_it_is_verified(setting: Setting) -> None:
    """SES is looked at every 15 seconds, and no more once it has found everything."""
    setting.domains.add("shop.example")
    setting.identities.verify("shop.example")
    assert setting.domains.wait("shop.example", timedelta(minutes=5)).verified
    assert setting.pauses == []


def test_waiting_ends_when_time_is_over(setting: Setting) -> None:
    """The last pause is as long as what is left, and no time at all is one look."""
    setting.domains.add("shop.example")
    assert not setting.domains.wait("shop.example", timedelta(seconds=40)).verified
    assert setting.pauses == [15, 15, 10]
    setting.pauses.clear()
    assert not setting.domains.wait("shop.example", timedelta(0)).verified
    assert setting.pauses == []
