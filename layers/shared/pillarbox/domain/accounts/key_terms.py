"""What limits a new key: its scopes, until when it works, and from where."""

from dataclasses import dataclass, replace
from datetime import datetime
from ipaddress import IPv6Network, ip_network
from typing import Final

from pillarbox.domain.errors import FieldError, ValidationFailed

MAX_SOURCES: Final = 10
#: The bits before an IPv4 address that is mapped to IPv6 (RFC 4291 section 2.5.5.2).
_MAPPED: Final = 96


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTerms:
    """What a key may do. `sources` are blocks of addresses (CIDR); none: from everywhere."""

    scopes: frozenset[str]
    expires_at: datetime | None = None
    sources: tuple[str, ...] = ()

    def checked(self, now: datetime) -> "KeyTerms":
        """Return the terms with each block in its canonical form."""
        if self.expires_at is not None and self.expires_at <= now:
            raise ValidationFailed(FieldError("expiresAt", "must be in the future", "out_of_range"))
        if len(self.sources) > MAX_SOURCES:
            raise ValidationFailed(
                FieldError("sources", f"must have at most {MAX_SOURCES} items", "too_long")
            )
        return replace(self, sources=tuple(dict.fromkeys(map(canonical_block, self.sources))))

    def within(self, expires_at: datetime | None, sources: tuple[str, ...]) -> "KeyTerms":
        """Return the terms of the child of a key with these; what is left out is the parent's."""
        if expires_at and self.expires_at and self.expires_at > expires_at:
            message = "must not be later than that of the key that creates it"
            raise ValidationFailed(FieldError("expiresAt", message, "out_of_range"))
        outside = [one for one in self.sources if sources and not _is_inside(one, sources)]
        if outside:
            message = f"{outside[0]} is not in the sources of the key that creates it"
            raise ValidationFailed(FieldError("sources", message, "out_of_range"))
        return replace(
            self, expires_at=self.expires_at or expires_at, sources=self.sources or sources
        )


def canonical_block(text: str) -> str:
    """Return the one form of a block of addresses: IPv4 also if it is mapped to IPv6."""
    try:
        # A zone (RFC 4007) names an interface of one machine, so no client's address has one.
        block = ip_network("" if "%" in text else text.strip(), strict=False)
    except ValueError:
        message = f"{text[:64]!r} is not a block of addresses such as 192.0.2.0/24"
        raise ValidationFailed(FieldError("sources", message, "invalid")) from None
    mapped = block.network_address.ipv4_mapped if isinstance(block, IPv6Network) else None
    # The addresses that blocks are compared with are read in the same way.
    return f"{mapped}/{block.prefixlen - _MAPPED}" if mapped else str(block)


def _is_inside(block: str, blocks: tuple[str, ...]) -> bool:
    inner = ip_network(block)
    return any(
        inner.version == outer.version and inner.subnet_of(outer)  # type: ignore[arg-type]
        for outer in map(ip_network, blocks)
    )
