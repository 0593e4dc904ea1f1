"""A new key: what limits it, what its permissions allow, and how its owner receives it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from ipaddress import IPv6Network, ip_network
from typing import Final

from pillarbox.domain.accounts import key
from pillarbox.domain.accounts.key import ApiKey
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


#: Each completes the sentence "This key may …".
SCOPE_WORDS: Final[Mapping[str, str]] = {
    key.EMAILS_SEND: "send emails",
    key.EMAILS_READ: "look up emails and their figures",
    key.EMAILS_CONTENT: "read the kept content of emails",
    key.RECEIVED_READ: "read received mail",
    key.TEMPLATES_READ: "read published templates",
    key.TEMPLATES_WRITE: "delete templates",
    "marketing:campaigns:read": "read campaigns",
    "marketing:campaigns:write": "change campaigns",
    "marketing:contacts:read": "read contacts",
    "marketing:contacts:write": "change contacts",
    key.WEBHOOKS_READ: "see webhook endpoints and what they received",
    key.WEBHOOKS_WRITE: "add, change and remove webhook endpoints",
    key.DRAFTS_READ: "read the drafts and versions of templates",
    key.DRAFTS_WRITE: "write and publish templates",
    key.DOMAINS_READ: "see domains, their DNS records and senders",
    key.DOMAINS_WRITE: "add and remove domains",
    key.SENDERS_WRITE: "add and remove senders, and choose the default",
    key.SUPPRESSIONS_READ: "see which addresses get no email",
    key.SUPPRESSIONS_WRITE: "change which addresses get no email",
    key.MEMBERS_READ: "see the members",
    key.MEMBERS_WRITE: "invite, change and remove members",
    key.ACCOUNT_READ: "see the account, its brand and its log",
    key.ACCOUNT_WRITE: "change the name, the brand, the retention and the alerts of the account",
    key.KEYS_READ: "see the API keys",
    key.KEYS_WRITE: "create API keys that may do no more than it, and revoke keys",
    key.ACCOUNTS_READ: "see every account of the service",
    key.ACCOUNTS_WRITE: "create, change, suspend and delete accounts",
}


def words_of(scopes: Iterable[str]) -> list[str]:
    """Return what permissions allow, in the order of the table."""
    given = {*scopes}
    return [words for scope, words in SCOPE_WORDS.items() if scope in given]


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key. Its text exists only here: the record has just its digest."""

    record: ApiKey
    text: str = field(repr=False)  # so that it cannot get into a log
