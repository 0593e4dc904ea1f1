"""API keys: their text, types, presets and scopes (contract section 5), and the limits of agents.

The limits hold on every route. Otherwise the agent could avoid them with another request.
"""

import binascii
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from pillarbox.domain.accounts.quota import Limits
from pillarbox.domain.address import domain_of, mailbox_key
from pillarbox.domain.errors import Json, ServiceError
from pillarbox.domain.ids import new_token

#: In a list of recipients: every address.
ANYONE: Final = "*"
#: The entries that a list of recipients may have: they are read with each request.
MAX_ENTRIES: Final = 100
#: The daily limit of a key that is created without one.
DEFAULT_PER_DAY: Final = 100


class Confirmation(StrEnum):
    """Who confirms each send of a key."""

    #: The user of the agent, over MCP.
    ASK = "ask"
    #: An owner of the account: each email waits until one releases it in the dashboard.
    OWNER = "owner"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """The limits of an agent's key.

    `recipients` are addresses and domains in lower case, or `ANYONE`. A domain does not include
    its subdomains. `per_day` is the number of messages of the key; its recipients a day follow
    from it as those of an account do.
    """

    recipients: tuple[str, ...]
    confirmation: Confirmation = Confirmation.ASK
    per_day: int = DEFAULT_PER_DAY

    @property
    def limits(self) -> Limits:
        return Limits(per_minute=None, per_day=self.per_day, per_month=None, of_key=True)

    def check_recipients(self, addresses: Iterable[str]) -> None:
        """Refuse parsed addresses that are not in the list."""
        refused: list[Json] = [
            {"address": address, "reason": "not_allowed"}
            for address in addresses
            if not self._allows(address)
        ]
        if refused:
            raise ServiceError(
                "recipient_not_allowed",
                "This key may not send to every address of this email; nothing was sent. The"
                " operator sets a key's recipients when creating it.",
                details={"recipients": refused},
            )

    def _allows(self, address: str) -> bool:
        return not {ANYONE, mailbox_key(address), domain_of(address)}.isdisjoint(self.recipients)


def confirmation_required() -> ServiceError:
    """Return the error of a send that needs a confirmation and has none."""
    return ServiceError(
        "confirmation_required",
        "A person must confirm each send of this key, and only the MCP server can ask. Nothing"
        " was sent.",
    )


def owner_required(message: str) -> ServiceError:
    """Return the error of what only an owner of the account can do, with how."""
    return ServiceError("confirmation_required", message)


ACCOUNT_ID_LENGTH: Final = 12
_SECRET_LENGTH: Final = 32
_CHECKSUM_LENGTH: Final = 8
_ENDING_LENGTH: Final = 4

EMAILS_SEND: Final = "emails:send"
EMAILS_READ: Final = "emails:read"
EMAILS_CONTENT: Final = "emails:content"
RECEIVED_READ: Final = "received:read"
TEMPLATES_READ: Final = "templates:read"
TEMPLATES_WRITE: Final = "templates:write"
WEBHOOKS_READ: Final = "webhooks:read"
WEBHOOKS_WRITE: Final = "webhooks:write"
KEYS_READ: Final = "keys:read"
KEYS_WRITE: Final = "keys:write"
DRAFTS_READ: Final = "drafts:read"
DRAFTS_WRITE: Final = "drafts:write"
SUPPRESSIONS_READ: Final = "suppressions:read"
SUPPRESSIONS_WRITE: Final = "suppressions:write"
MEMBERS_READ: Final = "members:read"
MEMBERS_WRITE: Final = "members:write"
ACCOUNT_READ: Final = "account:read"
ACCOUNT_WRITE: Final = "account:write"
DOMAINS_READ: Final = "domains:read"
DOMAINS_WRITE: Final = "domains:write"
SENDERS_WRITE: Final = "senders:write"
ACCOUNTS_READ: Final = "accounts:read"
ACCOUNTS_WRITE: Final = "accounts:write"
_CAMPAIGNS: Final = ("marketing:campaigns:read", "marketing:campaigns:write")
_CONTACTS: Final = ("marketing:contacts:read", "marketing:contacts:write")

#: The scopes of the contract. Ours come after them: no preset has one, so that a key only gets one
#: that was chosen for it.
_CONTRACT_SCOPES: Final = frozenset(
    {EMAILS_SEND, EMAILS_READ, TEMPLATES_READ, TEMPLATES_WRITE, *_CAMPAIGNS, *_CONTACTS}
)
#: Those of the dashboard's routes. A key with one of them is a management key.
MANAGEMENT_SCOPES: Final = frozenset(
    {
        *(KEYS_READ, KEYS_WRITE, DRAFTS_READ, DRAFTS_WRITE, SUPPRESSIONS_READ, SUPPRESSIONS_WRITE),
        *(MEMBERS_READ, MEMBERS_WRITE, ACCOUNT_READ, ACCOUNT_WRITE),
        *(DOMAINS_READ, DOMAINS_WRITE, SENDERS_WRITE),
    }
)
#: Over the mail of an account and its content.
EMAIL_SCOPES: Final = frozenset({EMAILS_SEND, EMAILS_READ, EMAILS_CONTENT, RECEIVED_READ})
#: Those of operators: over all accounts. Only keys of an operator's own account have them.
OPERATOR_SCOPES: Final = frozenset({ACCOUNTS_READ, ACCOUNTS_WRITE})
#: What a key of any account can have.
SCOPES: Final = (
    _CONTRACT_SCOPES
    | {EMAILS_CONTENT, RECEIVED_READ, WEBHOOKS_READ, WEBHOOKS_WRITE}
    | MANAGEMENT_SCOPES
)
#: Scopes that need a paid plan (contract section 5): marketing, except contacts.
PAID_SCOPES: Final = frozenset(_CAMPAIGNS)


class KeyType(StrEnum):
    """The two types: a preview key only sends starter templates; a live key has chosen scopes."""

    PREVIEW = "preview"
    LIVE = "live"

    @property
    def prefix(self) -> str:
        return f"bx_{self.value}_"


class Preset(StrEnum):
    """A named set of scopes, chosen when a key is created."""

    SEND = "send"
    MARKETING = "marketing"
    ANALYTICS = "analytics"
    CUSTOM = "custom"


PRESET_SCOPES: Final[Mapping[Preset, frozenset[str]]] = {
    Preset.SEND: frozenset({EMAILS_SEND, EMAILS_READ}),
    Preset.MARKETING: _CONTRACT_SCOPES,
    Preset.ANALYTICS: frozenset({EMAILS_READ, TEMPLATES_READ, _CAMPAIGNS[0], _CONTACTS[0]}),
    Preset.CUSTOM: frozenset(),
}
PREVIEW_SCOPES: Final = frozenset({EMAILS_SEND, EMAILS_READ})

_KEY_TEXT: Final = re.compile(
    rf"(bx_(?:preview|live)_([0-9a-z]{{{ACCOUNT_ID_LENGTH}}})[0-9a-z]{{{_SECRET_LENGTH}}})"
    rf"([0-9a-f]{{{_CHECKSUM_LENGTH}}})"
)
#: The id of a key contains the account id, so it is enough to revoke the key.
KEY_ID_PREFIX: Final = "key_"
KEY_ID_LENGTH: Final = 8
KEY_ID: Final = rf"{KEY_ID_PREFIX}[0-9a-z]{{{ACCOUNT_ID_LENGTH + KEY_ID_LENGTH}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """The record of a key. Of the key's text it stores the SHA-256 digest and the ending only."""

    key_id: str
    account_id: str
    name: str
    type: KeyType
    preset: Preset | None
    scopes: frozenset[str]
    digest: str
    created_at: datetime
    revoked_at: datetime | None = None
    #: Whether this is a preview key that anybody gets with an email address. Its emails are tests.
    self_service: bool = False
    #: The limits of a key that an agent uses; None for every other key.
    agent: AgentSettings | None = None
    #: The address of the member who made it, or who else did (`account_log.LogEntry`).
    created_by: str | None = None
    #: What `ending_of_key` returned; None for a key that was made before endings were stored.
    ending: str | None = None
    #: From when on it does not work any more.
    expires_at: datetime | None = None
    #: The blocks of addresses that it works from; none: from everywhere.
    sources: tuple[str, ...] = ()

    def works(self, clock: Callable[[], datetime]) -> bool:
        """Return whether it is neither revoked nor expired. Few keys ask for the time."""
        return self.revoked_at is None and (self.expires_at is None or clock() < self.expires_at)

    @property
    def manages(self) -> bool:
        """Whether it is a management key, about which owners get an email."""
        return is_management(self.scopes)

    @property
    def is_full(self) -> bool:
        """Whether it has every scope that an account can have on any plan."""
        return self.scopes >= SCOPES - PAID_SCOPES

    @property
    def is_limited(self) -> bool:
        """Whether it has an end or sources, which a member whom it invites would not have."""
        return self.expires_at is not None or bool(self.sources)

    @property
    def title(self) -> str:
        """The name with the id, because names need not differ."""
        return f"{self.name} ({self.key_id})"


def is_management(scopes: frozenset[str]) -> bool:
    """Return whether a key with these scopes is a management key."""
    return not scopes.isdisjoint(MANAGEMENT_SCOPES | OPERATOR_SCOPES)


def new_key_text(account_id: str, key_type: KeyType) -> str:
    """Generate the text of a key: prefix, account id, secret (160 bits) and checksum."""
    body = f"{key_type.prefix}{account_id}{new_token(_SECRET_LENGTH)}"
    return body + _checksum(body)


def account_of_key(text: str) -> str | None:
    """Return the account id in a key's text, or None if the text is not a key.

    The checksum shows that a key is mistyped or cut off without a read of the database.
    """
    match = _KEY_TEXT.fullmatch(text)
    if match is None or _checksum(match[1]) != match[3]:
        return None
    return match[2]


def digest_of_key(text: str) -> str:
    """Return the SHA-256 digest in hex. The secret is random, so it needs no salt."""
    return hashlib.sha256(text.encode()).hexdigest()


def ending_of_key(text: str) -> str:
    """Return the last four characters, by which people tell keys apart.

    They are of the checksum, so they show no character of the secret, and at most 16 of its bits.
    """
    return text[-_ENDING_LENGTH:]


def _checksum(body: str) -> str:
    return f"{binascii.crc32(body.encode()):08x}"
