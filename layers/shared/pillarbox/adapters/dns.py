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

#: For all domains of an email together, in seconds.
MAX_WAIT: Final = 2.0
#: The time-out of one try in seconds: MAX_WAIT allows two tries.
_TRY_TIMEOUT: Final = 0.9
_MAX_PARALLEL: Final = 16
_CACHE_SIZE: Final = 10_000


class DnsMailDomains:
    """Implements `ports.MailDomains`.

    Args:
        servers: name servers as `host:port`; if empty, the system's name servers.
    """

    def __init__(self, servers: tuple[str, ...] = ()) -> None:
        self._servers = servers

    @cached_property
    def _resolver(self) -> dns.resolver.Resolver:
        resolver = make_resolver(self._servers)
        resolver.cache = dns.resolver.LRUCache(_CACHE_SIZE)
        return resolver

    def look_up(self, domains: Iterable[str]) -> Mapping[str, DomainVerdict]:
        """Look up all domains in parallel. A domain without a timely answer is `UNKNOWN`."""
        names = list(domains)
        if len(names) == 1:
            return {names[0]: self._look_up_one(names[0])}
        verdicts = dict.fromkeys(names, DomainVerdict.UNKNOWN)
        pool = ThreadPoolExecutor(_MAX_PARALLEL, thread_name_prefix="mx")
        lookups = {pool.submit(self._look_up_one, name): name for name in names}
        done, _ = wait(lookups, timeout=MAX_WAIT)
        pool.shutdown(wait=False, cancel_futures=True)
        return verdicts | {lookups[future]: future.result() for future in done}

    def _look_up_one(self, domain: str) -> DomainVerdict:
        try:
            answer = self._resolver.resolve(f"{domain}.", "MX", search=False)
        except dns.resolver.NXDOMAIN:
            return DomainVerdict.NO_DOMAIN
        except dns.resolver.NoAnswer:
            return DomainVerdict.NO_MX
        except dns.exception.DNSException:
            # A time-out, SERVFAIL or a broken chain: only the delivery can show.
            return DomainVerdict.UNKNOWN
        exchangers = [record for record in answer if isinstance(record, MX)]
        if len(exchangers) == 1 and exchangers[0].exchange.to_text() == ".":
            return DomainVerdict.NULL_MX
        return DomainVerdict.ACCEPTS


def make_resolver(servers: tuple[str, ...]) -> dns.resolver.Resolver:
    """Return a resolver that waits two seconds.

    Args:
        servers: name servers as `host:port`; if empty, the system's name servers.
    """
    resolver = dns.resolver.Resolver(configure=not servers)
    if servers:
        resolver.nameservers = [_name_server(server) for server in servers]
    resolver.timeout = _TRY_TIMEOUT
    resolver.lifetime = MAX_WAIT
    return resolver


def _name_server(server: str) -> dns.nameserver.Do53Nameserver:
    host, _, port = server.rpartition(":")
    return dns.nameserver.Do53Nameserver(host, int(port))


class DnsRecords:
    """Implements `accounts.ports.DnsLookup`.

    Args:
        servers: name servers as `host:port`; if empty, the system's name servers.
    """

    def __init__(self, servers: tuple[str, ...] = ()) -> None:
        self._servers = servers

    @cached_property
    def _resolver(self) -> dns.resolver.Resolver:
        return make_resolver(self._servers)

    def look_up(self, name: str, kind: str) -> Sequence[str] | None:
        """Return the values as `DnsRecord` writes them.

        They are empty if the name or the type does not exist, and None if the DNS gives no answer.
        """
        from dns.rdtypes.txtbase import TXTBase  # noqa: PLC0415  a send reads no TXT record

        try:
            answer = self._resolver.resolve(f"{name}.", kind, search=False)
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return ()
        except dns.exception.DNSException:
            return None
        return tuple(
            # The strings of a TXT record are joined (RFC 7208 section 3.3).
            b"".join(record.strings).decode("ascii", "replace")
            if isinstance(record, TXTBase)
            else record.to_text().rstrip(".")
            for record in answer
        )
