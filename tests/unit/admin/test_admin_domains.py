"""Setting up a domain, from the identity at SES to the DNS records."""

from datetime import timedelta

import pytest

from pillarbox.application.accounts.domains import SPF, Domains, RecordState
from pillarbox.application.accounts.ports import HostedZone
from pillarbox.domain.errors import ValidationFailed
from tests.fakes.builders import NOW
from tests.refusals import faults
from tests.unit.admin.domain_fakes import FakeDns, FakeDomains, FakeZones
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


def test_a_domain_that_ses_does_not_know_is_not_shown(setup: DomainSetup) -> None:
    with pytest.raises(ValidationFailed, match=r"pillarbox domain add shop\.example") as refused:
        setup.domains.show("shop.example")
    assert errors(refused) == [("domain", "unknown_domain")]
    assert setup.identities.identities == {}


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


def test_waiting_ends_when_the_time_is_over(setup: DomainSetup) -> None:
    setup.domains.add("shop.example")
    assert not setup.domains.wait("shop.example", timedelta(seconds=40)).verified
    assert setup.pauses == [15, 15, 10]
    setup.pauses.clear()
    assert not setup.domains.wait("shop.example", timedelta(0)).verified
    assert setup.pauses == []
