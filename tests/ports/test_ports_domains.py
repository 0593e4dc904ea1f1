"""Mail exchangers: `ports.MailDomains` with a name server on the loopback interface."""

from dataclasses import dataclass, field

import dns.exception
import pytest

from pillarbox.adapters.dns import DnsMailDomains
from pillarbox.application.ports import DomainVerdict

UNKNOWN_KEPT = 60.0
MAX_WAIT = 2.0

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


def test_many_domains_are_looked_up_at_once(domains: DnsMailDomains) -> None:
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
    assert domains._resolver.lifetime == MAX_WAIT
    assert domains._resolver.timeout < MAX_WAIT


@dataclass
class CountedServer:
    """The resolver of an adapter, which counts the queries; `silent` domains get no answer."""

    silent: set[str]
    asked: list[str] = field(default_factory=list)

    def resolve(self, name: str, *_: object, **__: object) -> list[object]:
        self.asked.append(name)
        if name in self.silent:
            raise dns.exception.Timeout
        return []


def counted(*silent: str) -> tuple[DnsMailDomains, CountedServer, list[float]]:
    now = [0.0]
    server = CountedServer({f"{name}." for name in silent})
    domains = DnsMailDomains(clock=lambda: now[0])
    vars(domains)["_resolver"] = server
    return domains, server, now


def test_a_slow_domain_is_asked_once_a_minute() -> None:
    domains, server, now = counted("slow.example")
    for names in (["slow.example"], ["slow.example"], ["slow.example", "slow.example"]):
        assert domains.look_up(names) == {"slow.example": DomainVerdict.UNKNOWN}
    assert server.asked == ["slow.example."]
    assert domains.look_up(["slow.example", "good.example"]) == {
        "slow.example": DomainVerdict.UNKNOWN,
        "good.example": DomainVerdict.ACCEPTS,
    }
    assert server.asked == ["slow.example.", "good.example."]
    now[0] = UNKNOWN_KEPT - 0.1
    domains.look_up(["slow.example"])
    assert len(server.asked) == 2
    now[0] = UNKNOWN_KEPT
    domains.look_up(["slow.example"])
    assert len(server.asked) == 3


def test_other_answers_are_not_remembered_as_unknown() -> None:
    """A domain that answered is asked again; the resolver's cache keeps it for its time to live."""
    domains, server, _ = counted()
    for _ in range(2):
        assert domains.look_up(["good.example"]) == {"good.example": DomainVerdict.ACCEPTS}
    assert len(server.asked) == 2


def test_a_bounded_number_of_unknown_domains_is_remembered() -> None:
    """With ever new domains the memory keeps the last 10,000."""
    domains, server, _ = counted()
    for number in range(10_001):
        domains._unanswered.add(f"d{number}.example")
    assert len(domains._unanswered._until) == 10_000
    domains.look_up(["d0.example"])
    domains.look_up(["d10000.example"])
    assert server.asked == ["d0.example."]


def test_no_name_server_is_unknown() -> None:
    unreachable = DnsMailDomains(("127.0.0.1:9",))
    assert unreachable.look_up(["example.com"]) == {"example.com": DomainVerdict.UNKNOWN}
