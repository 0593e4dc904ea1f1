"""Mail exchangers: `ports.MailDomains`, asked of a name server on the loopback."""

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
    """No domain, no MX and the null MX are told apart; what is broken is unknown."""
    assert domains.look_up([domain]) == {domain: verdict}


def test_many_domains_are_asked_at_once(domains: DnsMailDomains) -> None:
    """All verdicts of a mail come together; none are asked for none."""
    assert domains.look_up(VERDICTS) == VERDICTS
    assert domains.look_up([]) == {}


def test_silence_is_unknown(domains: DnsMailDomains) -> None:
    """A name server that does not answer leaves its domain unknown, and only that one."""
    assert domains.look_up(["slow.example", "nomx.example"]) == {
        "slow.example": DomainVerdict.UNKNOWN,
        "nomx.example": DomainVerdict.NO_MX,
    }
    assert domains.look_up(["a.slow.example"]) == {"a.slow.example": DomainVerdict.UNKNOWN}


def test_nobody_waits_longer_than_two_seconds(domains: DnsMailDomains) -> None:
    """One question ends with the resolver's lifetime, all together with the same figure."""
    assert MAX_WAIT == 2.0
    assert domains._resolver.lifetime == MAX_WAIT
    assert domains._resolver.timeout < MAX_WAIT


def test_no_name_server_is_unknown() -> None:
    """When nobody listens there, nothing is known."""
    nobody = DnsMailDomains(("127.0.0.1:9",))
    assert nobody.look_up(["example.com"]) == {"example.com": DomainVerdict.UNKNOWN}


def test_the_fake_gives_the_verdicts_it_is_told() -> None:
    """The fake accepts every domain but those told otherwise, as the tests need it."""
    fake = FakeDomains()
    fake.verdicts = dict(VERDICTS)
    assert fake.look_up(VERDICTS) == VERDICTS
    assert fake.look_up(["other.example"]) == {"other.example": DomainVerdict.ACCEPTS}
