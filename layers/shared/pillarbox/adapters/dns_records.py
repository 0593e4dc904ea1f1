"""Records of the DNS, as everybody sees them."""

from collections.abc import Sequence
from functools import cached_property

import dns.exception
import dns.resolver
from dns.rdtypes.txtbase import TXTBase

from pillarbox.adapters.dns import make_resolver


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
