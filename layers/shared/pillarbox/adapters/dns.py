"""Look up mail exchangers (RFC 5321 section 5.1, RFC 7505)."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from socket import gethostbyname
from threading import Lock
from time import monotonic
from typing import Final

import dns.exception
import dns.nameserver
import dns.rdtypes.IN  # the first answer would import it
import dns.resolver
from dns.rdtypes.ANY.MX import MX

from pillarbox.application.ports import DomainVerdict

#: How long a question without an answer is not asked again, in seconds. So a slow name server
#: holds up one request of a process, not each.
UNKNOWN_KEPT: Final = 60.0
_SIZE: Final = 10_000


class Unanswered:
    """The questions without an answer; several threads can use it."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        #: Until when each one is not asked again; the oldest comes first.
        self._until: dict[Hashable, float] = {}
        self._lock = Lock()

    def __contains__(self, question: Hashable) -> bool:
        """Return whether a question had no answer within the last minute."""
        return self._until.get(question, 0.0) > self._clock()

    def add(self, question: Hashable) -> None:
        """Remember a question. A thread whose caller gave up calls it too."""
        with self._lock:
            self._until.pop(question, None)
            self._until[question] = self._clock() + UNKNOWN_KEPT
            if len(self._until) > _SIZE:
                del self._until[next(iter(self._until))]


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

    def __init__(
        self, servers: tuple[str, ...] = (), clock: Callable[[], float] = monotonic
    ) -> None:
        self._unanswered = Unanswered(clock)
        self._resolver = make_resolver(servers)
        self._resolver.cache = dns.resolver.LRUCache(_CACHE_SIZE)

    def look_up(self, domains: Iterable[str]) -> Mapping[str, DomainVerdict]:
        """Look up all domains in parallel. A domain without a timely answer is `UNKNOWN`."""
        verdicts = dict.fromkeys(domains, DomainVerdict.UNKNOWN)
        names = [name for name in verdicts if name not in self._unanswered]
        if len(names) <= 1:
            return verdicts | {name: self._look_up_one(name) for name in names}
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
            self._unanswered.add(domain)
            return DomainVerdict.UNKNOWN
        exchangers = [record for record in answer if isinstance(record, MX)]
        if len(exchangers) == 1 and exchangers[0].exchange.to_text() == ".":
            return DomainVerdict.NULL_MX
        return DomainVerdict.ACCEPTS


def make_resolver(servers: tuple[str, ...]) -> dns.resolver.Resolver:
    """Return a resolver that waits two seconds."""
    resolver = dns.resolver.Resolver(configure=not servers)
    if servers:
        resolver.nameservers = [_name_server(server) for server in servers]
    resolver.timeout = _TRY_TIMEOUT
    resolver.lifetime = MAX_WAIT
    return resolver


def _name_server(server: str) -> dns.nameserver.Do53Nameserver:
    host, _, port = server.rpartition(":")
    # dnspython accepts only an address, and the local stack gives containers a host name.
    return dns.nameserver.Do53Nameserver(gethostbyname(host), int(port))
