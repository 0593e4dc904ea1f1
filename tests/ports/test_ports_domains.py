"""Mail exchangers: `ports.MailDomains` with a name server on the loopback interface."""

import pytest

from pillarbox.adapters.dns import MAX_WAIT, DnsMailDomains
from pillarbox.application.ports import DomainVerdict
from tests.fakes.stores import FakeDomains

VERDICTS = {
    "example.com": DomainVerdict.ACCEPTS,
    "xn--bcher-kva.example": DomainVerdict.ACCEPTS,
    "gone.invalid": DomainVerdict.NO_DOMAIN,
    "nomx.example": DomainVerdict.NO_MX,
    "nullmx.example": DomainVerdict.NULL_MX,
    "broken.example": DomainVerdict.UNKNOWN,
    f"{'d' * 63}.{'d' * 63}.{'d' * 63}.{'d' * 57}.com": DomainVerdict.ACCEPTS,
}


@pytest.fixture(scope="module")
def domains(dns_server: str) -> DnsMailDomains:
    return DnsMailDomains((dns_server,))


@pytest.mark.parametrize(("domain", "verdict"), VERDICTS.items())
def test_each_answer_has_its_verdict(
    domains: DnsMailDomains, domain: str, verdict: DomainVerdict
) -> None:
    """No domain, no MX and the null MX are distinct verdicts; a broken answer is unknown."""
    assert domains.look_up([domain]) == {domain: verdict}


def test_many_domains_are_looked_up_at_once(domains: DnsMailDomains) -> None:
    """All verdicts of an email come together, and no domains give no verdicts."""
    assert domains.look_up(VERDICTS) == VERDICTS
    assert domains.look_up([]) == {}


def test_silence_is_unknown(domains: DnsMailDomains) -> None:
    """A domain whose name server does not answer is unknown; other domains are not affected."""
    assert domains.look_up(["slow.example", "nomx.example"]) == {
        "slow.example": DomainVerdict.UNKNOWN,
        "nomx.example": DomainVerdict.NO_MX,
    }
    assert domains.look_up(["a.slow.example"]) == {"a.slow.example": DomainVerdict.UNKNOWN}


def test_a_look_up_ends_within_two_seconds(domains: DnsMailDomains) -> None:
    """A single query and a look-up of many domains have the same time limit."""
    assert MAX_WAIT == 2.0
    assert domains._resolver.lifetime == MAX_WAIT
    assert domains._resolver.timeout < MAX_WAIT


def test_no_name_server_is_unknown() -> None:
    """If nothing listens at the name server's address, the domain is unknown."""
    unreachable = DnsMailDomains(("127.0.0.1:9",))
    assert unreachable.look_up(["example.com"]) == {"example.com": DomainVerdict.UNKNOWN}


def test_the_fake_returns_its_configured_verdicts() -> None:
    """In the fake every domain without a configured verdict accepts email."""
    fake = FakeDomains()
    fake.verdicts = dict(VERDICTS)
    assert fake.look_up(VERDICTS) == VERDICTS
    assert fake.look_up(["other.example"]) == {"other.example": DomainVerdict.ACCEPTS}
