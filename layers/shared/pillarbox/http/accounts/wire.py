"""Read the requests about an account and what it has. The contract has none of them."""

from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from pillarbox.application.accounts.ports import AccountChanges
from pillarbox.application.accounts.resuming import MAX_CAUSE
from pillarbox.domain.accounts.account import (
    MAX_BRAND_NAME,
    MAX_COMPANY_ADDRESS,
    MAX_FROM_NAME,
    MAX_KEEP,
    MAX_LOGO_URL,
    MAX_RECORD_DAYS,
    MIN_RECORD_DAYS,
    Brand,
)
from pillarbox.domain.accounts.account_domain import MAIL_FROM_LABEL
from pillarbox.domain.accounts.account_log import LogPart
from pillarbox.domain.accounts.alert import AlertChanges, AlertKind
from pillarbox.domain.accounts.key import OPERATOR_SCOPES, SCOPES, Preset
from pillarbox.domain.accounts.key_terms import MAX_SOURCES
from pillarbox.domain.accounts.pause import PauseKey, PauseScope
from pillarbox.domain.sign_in.session import Role
from pillarbox.domain.webhooks.url import MAX_URL
from pillarbox.http.query import LONG_LIMIT, TIMESTAMP_UTC, one_of
from pillarbox.http.wire import (
    HEADER_TEXT,
    MAX_NAME,
    WireModel,
    after,
    boolean,
    invalid,
    list_of,
    optional,
    optional_or,
    required,
    short_list,
    text,
    whole_number,
    with_default,
)

if TYPE_CHECKING:
    from pydantic_core.core_schema import ValidationInfo

#: The most addresses of one request.
MAX_ADDRESSES: Final = 1_000
#: In characters, of which each has up to four bytes: a sort key has at most 1,024 bytes.
MAX_START: Final = 200
_MAX_CURSOR: Final = 254
#: In characters; a domain or an address may be longer before its labels become A-labels.
_MAX_ADDRESS: Final = 1_016
#: In characters, of what follows `#` in a link.
_MAX_TOKEN: Final = 320
#: In characters, of a label of a domain (RFC 1035 section 2.3.4).
_MAX_LABEL: Final = 63
#: More than there are scopes. A longer list is refused as a whole.
_MAX_SCOPES: Final = 50


def _either(addresses: list[str] | None, info: "ValidationInfo") -> list[str] | None:
    # A field that is invalid itself is absent.
    if "address" in info.data and (info.data["address"] is None) == (addresses is None):
        raise invalid("incomplete", "give either address or addresses")
    return addresses


_SCOPES = short_list(text(most=MAX_NAME), most=_MAX_SCOPES)
_SOURCES = short_list(text(least=1, most=MAX_NAME), most=MAX_SOURCES)
_ADDRESSES = short_list(text(), least=1, most=MAX_ADDRESSES)


class CreateKeyRequest(WireModel):
    """A new API key."""

    name = required(text(least=1), pattern=HEADER_TEXT, maxLength=128)
    """A name for people."""
    preset = required(one_of(Preset))
    """A set of permissions."""
    scopes = optional(
        _SCOPES,
        items={"type": "string", "enum": sorted(SCOPES | OPERATOR_SCOPES)},
    )
    """The permissions of the key, with the preset `custom` alone."""
    expires_at = optional(TIMESTAMP_UTC)
    """From when on it does not work; without it, it stays."""
    sources = optional(_SOURCES, maxItems=MAX_SOURCES, examples=[["192.0.2.0/24"]])
    """The blocks of addresses (CIDR) that it works from; without it, all."""


class ResumeRequest(WireModel):
    """The pause that an owner ends, and what caused it."""

    scope = required(one_of(PauseScope))
    """What is paused."""
    about = optional(text(least=1, most=MAX_NAME), name="id")
    """The `id` of the pause, as `GET /api/v1/account` shows it; not for the account."""
    cause = required(text(least=1, most=MAX_CAUSE), pattern=HEADER_TEXT)
    """What was wrong and is corrected. The account's log shows it."""

    @property
    def key(self) -> PauseKey:
        """Which pause it is."""
        return self.scope, self.about or "", False


class SuppressionsQuery(WireModel):
    """The suppressions of an account."""

    in_query = True
    start = optional(text(least=1, most=MAX_START), name="search")
    """How each address begins, in any letter case."""
    limit = with_default(LONG_LIMIT, 50)
    """The number of suppressions."""
    cursor = optional(text(least=1, most=_MAX_CURSOR))
    """The `nextCursor` of the page before."""


class LogQuery(WireModel):
    """A part of an account's log."""

    in_query = True
    part = with_default(one_of(LogPart), LogPart.CHANGES)
    """Changes, or calls, which are noted also if they are refused."""
    key = optional(text(least=1, most=_MAX_CURSOR))
    """The id of a key: only what came from it."""
    limit = with_default(LONG_LIMIT, 50)
    """The number of entries."""
    cursor = optional(text(least=1, most=_MAX_CURSOR))
    """The `nextCursor` of the page before."""


class AddSuppressionsRequest(WireModel):
    """Give either `address` or `addresses`."""

    address = optional(text(least=1, most=_MAX_ADDRESS), format="email")
    """An address."""
    addresses = optional(_ADDRESSES, check=_either, maxItems=MAX_ADDRESSES)
    """Addresses, each alone or as `Name <address>`."""


class InviteMemberRequest(WireModel):
    """A new member."""

    email = required(text(least=1, most=_MAX_ADDRESS), format="email")
    """The user's address."""
    role = required(one_of(Role))
    """The role in the account."""


class ChangeMemberRequest(WireModel):
    """Another role."""

    role = required(one_of(Role))
    """The new role in the account."""


def _check_record_days(days: int) -> int:
    if 0 < days < MIN_RECORD_DAYS:
        raise invalid("out_of_range", f"must be 0, or at least {MIN_RECORD_DAYS}")
    return days


class ChangeAccountRequest(WireModel):
    """Changes to the account. Null changes nothing, and an empty text removes it."""

    name = optional(text(least=1), pattern=HEADER_TEXT, maxLength=128)
    """The account's name."""
    brand_name = optional(text(most=MAX_BRAND_NAME), pattern=HEADER_TEXT)
    """Shown at the top of templates."""
    logo_url = optional(text(most=MAX_LOGO_URL), pattern=r"^(https://.*)?$")
    """An https: URL of an image."""
    accent = optional(text(most=MAX_NAME), pattern=r"^(#[0-9a-fA-F]{6})?$", examples=["#0a7d5a"])
    """A colour that is visible on light and dark backgrounds."""
    from_name = optional(text(most=MAX_FROM_NAME), pattern=HEADER_TEXT)
    """The sender's display name."""
    support_email = optional(text(most=MAX_LOGO_URL), examples=["support@shop.example"])
    """Where recipients of starters get help: an address, or a web or `mailto:` URL."""
    company_address = optional(text(most=MAX_COMPANY_ADDRESS), pattern=HEADER_TEXT)
    """The postal address that starters show."""
    action_url = optional(text(most=MAX_LOGO_URL), pattern=r"^(https?://.*)?$")
    """The link of the button of `welcome`."""
    keep_days = optional(whole_number(least=0, most=MAX_KEEP))
    """For how many days to keep the content of emails from now on, for owners, developers and keys
    with `emails:content`; 0: not at all. A lower number is in force for older emails too."""
    record_days = optional(after(whole_number(least=0, most=MAX_RECORD_DAYS), _check_record_days))
    """After how many days to delete the records of emails for good, with addresses, subjects and
    tags: 90 or more; 0: never. Figures stay."""
    replies = optional(boolean())
    """Whether answers come back to emails whose send does not say so (`replies`). It needs a domain
    that receives; until then it has no effect."""
    received_days = optional(whole_number(least=1, most=MAX_KEEP))
    """For how many days to keep received mail from now on."""

    @property
    def changes(self) -> AccountChanges:
        return AccountChanges(
            name=self.name,
            keep=self.keep_days,
            record_days=self.record_days,
            replies=self.replies,
            received_days=self.received_days,
            brand=Brand(
                name=self.brand_name,
                logo_url=self.logo_url,
                accent=self.accent,
                from_name=self.from_name,
                support_email=self.support_email,
                company_address=self.company_address,
                action_url=self.action_url,
            ),
        )


class ChangeAlertsRequest(WireModel):
    """What the owners hear of. Null changes nothing, and an empty `chatUrl` removes it."""

    mail = optional(boolean())
    """Whether the owners and the contact get emails."""
    chat_url = optional(text(most=MAX_URL), pattern=r"^(https://.*)?$")
    """The incoming webhook of a room in Slack or Teams; not shown again."""
    off = optional(short_list(one_of(AlertKind), most=len(AlertKind)), maxItems=len(AlertKind))
    """What they do not want to hear of."""

    @property
    def changes(self) -> AlertChanges:
        return AlertChanges(**vars(self))


class AddDomainRequest(WireModel):
    """A domain to send from."""

    domain = required(text(least=1, most=_MAX_ADDRESS))
    """Such as `shop.example`."""
    mail_from = optional_or(text(least=1, most=_MAX_LABEL), MAIL_FROM_LABEL)
    """The label of its MAIL FROM domain, if the domain is new to SES: `bounce` for
    `bounce.shop.example`, and `mail` by default."""


#: What `ReceivingSetup` takes, which keeps those with `r.` for answers.
_LOCAL_PART: Final = {
    "type": "string",
    "pattern": r"^(?!r\.)[a-z0-9]([a-z0-9._+-]{0,62}[a-z0-9])?$",
}


class ChangeDomainRequest(WireModel):
    """What a domain receives."""

    receive = optional(text(most=_MAX_LABEL))
    """The label below the domain that receives answers: `in` for `in.shop.example`. Its MX record
    is among the records then. An empty text switches receiving off."""
    receive_names = optional(list_of(text(least=1, most=64)), items=_LOCAL_PART, maxItems=20)
    """Names that get mail which answers no email, such as `support`: at most 20."""


class DomainLinkRequest(WireModel):
    """A link to the DNS records of a domain."""

    token = required(text(least=1, most=_MAX_TOKEN))
    """What follows `#` in the link."""


class AddSenderRequest(WireModel):
    """An address to send from."""

    address = required(text(least=1, most=_MAX_ADDRESS))
    """An address of a verified domain or of a subdomain of it."""


def read_address(text: str) -> str:
    """Return the address in a path, which arrives percent-encoded."""
    return unquote(text, errors="surrogateescape")
