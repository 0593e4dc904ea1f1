"""Read the requests about an account and what it has. The contract has none of them."""

from collections.abc import Callable
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
from pillarbox.domain.accounts.key import Preset
from pillarbox.domain.accounts.key_terms import MAX_SOURCES
from pillarbox.domain.accounts.pause import PauseKey, PauseScope
from pillarbox.domain.sign_in.session import Role
from pillarbox.domain.webhooks.url import MAX_URL
from pillarbox.http.query import LONG_LIMIT, TIMESTAMP_UTC, one_of
from pillarbox.http.wire import (
    MAX_NAME,
    WireModel,
    after,
    before,
    boolean,
    invalid,
    list_of,
    optional,
    optional_or,
    read_body,
    required,
    text,
    whole_number,
    with_default,
)

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
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


def _at_most(most: int) -> Callable[[object], object]:
    def check(value: object) -> object:
        if isinstance(value, list) and len(value) > most:
            raise invalid("too_long", f"must have at most {most} items")
        return value

    return check


def _either(addresses: list[str] | None, info: "ValidationInfo") -> list[str] | None:
    # A field that is invalid itself is absent.
    if "address" in info.data and (info.data["address"] is None) == (addresses is None):
        raise invalid("incomplete", "give either address or addresses")
    return addresses


_SCOPES = before(_at_most(_MAX_SCOPES), list_of(text(most=MAX_NAME)))
_SOURCES = before(_at_most(MAX_SOURCES), list_of(text(least=1, most=MAX_NAME)))
_ADDRESSES = before(_at_most(MAX_ADDRESSES), list_of(text(), least=1))


class CreateKeyRequest(WireModel):
    """A new API key."""

    name = required(text(least=1))
    preset = required(one_of(Preset))
    scopes = optional(_SCOPES)
    expires_at = optional(TIMESTAMP_UTC)
    sources = optional(_SOURCES)


class ResumeRequest(WireModel):
    """The pause that an owner ends, and what caused it."""

    scope = required(one_of(PauseScope))
    about = optional(text(least=1, most=MAX_NAME), name="id")
    cause = required(text(least=1, most=MAX_CAUSE))

    @property
    def key(self) -> PauseKey:
        """Which pause it is."""
        return self.scope, self.about or "", False


class SuppressionsQuery(WireModel):
    """The suppressions of an account."""

    in_query = True
    start = optional(text(least=1, most=MAX_START), name="search")
    limit = with_default(LONG_LIMIT, 50)
    cursor = optional(text(least=1, most=_MAX_CURSOR))


class LogQuery(WireModel):
    """A part of an account's log."""

    in_query = True
    part = with_default(one_of(LogPart), LogPart.CHANGES)
    key = optional(text(least=1, most=_MAX_CURSOR))
    limit = with_default(LONG_LIMIT, 50)
    cursor = optional(text(least=1, most=_MAX_CURSOR))


class AddSuppressionsRequest(WireModel):
    """Give either `address` or `addresses`."""

    address = optional(text(least=1, most=_MAX_ADDRESS))
    addresses = optional(_ADDRESSES, check=_either)


class InviteMemberRequest(WireModel):
    """A new member."""

    email = required(text(least=1, most=_MAX_ADDRESS))
    role = required(one_of(Role))


class ChangeMemberRequest(WireModel):
    """Another role."""

    role = required(one_of(Role))


def _check_record_days(days: int) -> int:
    if 0 < days < MIN_RECORD_DAYS:
        raise invalid("out_of_range", f"must be 0, or at least {MIN_RECORD_DAYS}")
    return days


class ChangeAccountRequest(WireModel):
    """Changes to the account. Null changes nothing, and an empty text removes it."""

    name = optional(text(least=1))
    brand_name = optional(text(most=MAX_BRAND_NAME))
    logo_url = optional(text(most=MAX_LOGO_URL))
    accent = optional(text(most=MAX_NAME))
    from_name = optional(text(most=MAX_FROM_NAME))
    support_email = optional(text(most=MAX_LOGO_URL))
    company_address = optional(text(most=MAX_COMPANY_ADDRESS))
    action_url = optional(text(most=MAX_LOGO_URL))
    keep_days = optional(whole_number(least=0, most=MAX_KEEP))
    record_days = optional(after(whole_number(least=0, most=MAX_RECORD_DAYS), _check_record_days))


class ChangeAlertsRequest(WireModel):
    """What the owners hear of. Null changes nothing, and an empty `chatUrl` removes it."""

    mail = optional(boolean())
    chat_url = optional(text(most=MAX_URL))
    off = optional(before(_at_most(len(AlertKind)), list_of(one_of(AlertKind))))

    @property
    def changes(self) -> AlertChanges:
        """What changes."""
        return AlertChanges(mail=self.mail, off=self.off, chat_url=self.chat_url)


class AddDomainRequest(WireModel):
    """A domain to send from."""

    domain = required(text(least=1, most=_MAX_ADDRESS))
    mail_from = optional_or(text(least=1, most=_MAX_LABEL), MAIL_FROM_LABEL)


class DomainLinkRequest(WireModel):
    """A link to the DNS records of a domain."""

    token = required(text(least=1, most=_MAX_TOKEN))


class AddSenderRequest(WireModel):
    """An address to send from."""

    address = required(text(least=1, most=_MAX_ADDRESS))


def read_address(text: str) -> str:
    """Return the address in a path, which arrives percent-encoded."""
    return unquote(text, errors="surrogateescape")


def read_account_changes(event: "APIGatewayProxyEvent") -> AccountChanges:
    """Read the changes to an account.

    Raises:
        ValidationFailed: the body does not have the documented shape.
    """
    body = read_body(event, ChangeAccountRequest)
    return AccountChanges(
        name=body.name,
        keep=body.keep_days,
        record_days=body.record_days,
        brand=Brand(
            name=body.brand_name,
            logo_url=body.logo_url,
            accent=body.accent,
            from_name=body.from_name,
            support_email=body.support_email,
            company_address=body.company_address,
            action_url=body.action_url,
        ),
    )
