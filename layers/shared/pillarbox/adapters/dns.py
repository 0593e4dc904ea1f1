"""Look up mail exchangers (RFC 5321 section 5.1, RFC 7505) and other DNS records."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from typing import Final

import dns.exception
import dns.nameserver
import dns.resolver
from dns.rdtypes.ANY.MX import MX

from pillarbox.application.ports import DomainVerdict

#: For all domains of a mail together, in seconds.
MAX_WAIT: Final = 2.0
#: Long enough for two tries within the wait.
_TRY: Final = 0.9
_PARALLEL: Final = 16
_CACHED: Final = 10_000


class DnsMailDomains:
    """Fulfils `ports.MailDomains`.

    Args:
        servers: name servers as `host:port`; empty for the system's.
    """

    def __init__(self, servers: tuple[str, ...] = ()) -> None:
        self._servers = servers

    @cached_property
    def _resolver(self) -> dns.resolver.Resolver:
        resolver = make_resolver(self._servers)
        resolver.cache = dns.resolver.LRUCache(_CACHED)
        return resolver

    def look_up(self, domains: Iterable[str]) -> Mapping[str, DomainVerdict]:
        """Ask for all domains at once; what is not known in time is unknown."""
        wanted = list(domains)
        if len(wanted) == 1:
            return {wanted[0]: self._ask(wanted[0])}
        verdicts = dict.fromkeys(wanted, DomainVerdict.UNKNOWN)
        pool = ThreadPoolExecutor(_PARALLEL, thread_name_prefix="mx")
        asked = {pool.submit(self._ask, domain): domain for domain in wanted}
        done, _ = wait(asked, timeout=MAX_WAIT)
        pool.shutdown(wait=False, cancel_futures=True)
        return verdicts | {asked[future]: future.result() for future in done}

    def _ask(self, domain: str) -> DomainVerdict:
        try:
            answer = self._resolver.resolve(f"{domain}.", "MX", search=False)
        except dns.resolver.NXDOMAIN:
            return DomainVerdict.NO_DOMAIN
        except dns.resolver.NoAnswer:
            return DomainVerdict.NO_MX
        except dns.exception.DNSException:
            # Time-out, SERVFAIL, a broken chain: delivery will tell, not we.
            return DomainVerdict.UNKNOWN
        exchangers = [record for record in answer if isinstance(record, MX)]
        if len(exchangers) == 1 and exchangers[0].exchange.to_text() == ".":
            return DomainVerdict.NULL_MX
        return DomainVerdict.ACCEPTS


def make_resolver(servers: tuple[str, ...]) -> dns.resolver.Resolver:
    """A resolver that asks these name servers (`host:port`), or the system's, for two seconds."""
    resolver = dns.resolver.Resolver(configure=not servers)
    if servers:
        resolver.nameservers = [_name_server(server) for server in servers]
    resolver.timeout = _TRY
    resolver.lifetime = MAX_WAIT
    return resolver


def _name_server(server: str) -> dns.nameserver.Do53Nameserver:
    host, _, port = server.rpartition(":")
    return dns.nameserver.Do53Nameserver(host, int(port))


class DnsRecords:
    """Fulfils `administration.ports.DnsLookup`.

    Args:
        servers: name servers as `host:port`; empty for the system's.
    """

    def __init__(self, servers: tuple[str, ...] = ()) -> None:
        self._servers = servers

    @cached_property
    def _resolver(self) -> dns.resolver.Resolver:
        return make_resolver(self._servers)

    def look_up(self, name: str, kind: str) -> Sequence[str] | None:
        """The values as `DnsRecord` writes them; none when the name or the type is not there."""
        from dns.rdtypes.txtbase import TXTBase  # noqa: PLC0415  sends never read a text record

        try:
            answer = self._resolver.resolve(f"{name}.", kind, search=False)
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return ()
        except dns.exception.DNSException:
            return None
        return tuple(
            # The strings of a text are one (RFC 7208 section 3.3).
            b"".join(record.strings).decode("ascii", "replace")
            if isinstance(record, TXTBase)
            else record.to_text().rstrip(".")
            for record in answer
        )
