"""Look up the DNS records of a sending domain.

The package `dns` is loaded at the first look-up: it is a tenth of a cold start, and a list of
domains needs none.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dns.resolver import Resolver

    from pillarbox.adapters.dns import Unanswered


class DnsRecords:
    """Implements `accounts.ports.DnsLookup`."""

    def __init__(self, servers: tuple[str, ...] = ()) -> None:
        self._servers = servers

    @cached_property
    def _unanswered(self) -> "Unanswered":
        """Answers are not remembered: who looks has often just changed them."""
        from pillarbox.adapters.dns import Unanswered  # noqa: PLC0415  see above

        return Unanswered()

    @cached_property
    def _resolver(self) -> "Resolver":
        from pillarbox.adapters.dns import make_resolver  # noqa: PLC0415  see above

        return make_resolver(self._servers)

    def look_up(self, name: str, kind: str) -> Sequence[str] | None:
        """Return the values as `DnsRecord` writes them.

        They are empty if the name or the type does not exist, and None if the DNS gives no answer.
        """
        if (name, kind) in self._unanswered:
            return None
        from dns.exception import DNSException  # noqa: PLC0415  see above
        from dns.rdtypes.txtbase import TXTBase  # noqa: PLC0415
        from dns.resolver import NXDOMAIN, NoAnswer  # noqa: PLC0415

        try:
            answer = self._resolver.resolve(f"{name}.", kind, search=False)
        except (NXDOMAIN, NoAnswer):
            return ()
        except DNSException:
            self._unanswered.add((name, kind))
            return None
        return tuple(
            # The strings of a TXT record are joined (RFC 7208 section 3.3).
            b"".join(record.strings).decode("ascii", "replace")
            if isinstance(record, TXTBase)
            else record.to_text().rstrip(".")
            for record in answer
        )
