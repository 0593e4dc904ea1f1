"""The JSON of each response about an account, as `account_replies.py` writes it.

As in `reply_types.py`, the OpenAPI document is made from these types, and no function loads them.
"""

from typing import Annotated, TypedDict

from pydantic import Field

from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.account_log import AccountAction
from pillarbox.domain.accounts.key import KeyType, Preset
from pillarbox.domain.sign_in.role import Role
from pillarbox.http.messages.reply_types import LimitState, Timestamp, Uuid


class KeyItem(TypedDict):
    """An API key without its text."""

    id: str
    name: str
    type: KeyType
    preset: Annotated[Preset | None, Field(description="Null for a preview key.")]
    scopes: Annotated[list[str], Field(description="The permissions of the key.")]
    agent: Annotated[bool, Field(description="Whether it is an agent's key with its own limits.")]
    createdAt: Timestamp
    lastUsedAt: Annotated[
        Timestamp | None,
        Field(description="When it last sent a message, to within about an hour."),
    ]
    revokedAt: Annotated[Timestamp | None, Field(description="Null while the key works.")]


class NewKey(KeyItem):
    """A new API key. Only this response has its text."""

    key: Annotated[str, Field(description="Save it now: it is shown only once.")]


class PresetItem(TypedDict):
    """A named set of permissions for a new key, under the account's plan."""

    preset: Preset
    scopes: Annotated[
        list[str], Field(description="What the key gets; for `custom` what it can get.")
    ]
    refusedScopes: Annotated[list[str], Field(description="Those that the plan does not allow.")]
    allowed: Annotated[bool, Field(description="Whether the plan allows the preset.")]
    reason: Annotated[str | None, Field(description="Why scopes are refused.")]


class SmtpServer(TypedDict):
    """Where programs submit emails over SMTP: with STARTTLS, as user `apikey` with the key."""

    host: str
    port: int


class KeyList(TypedDict):
    """The keys of an account, the oldest first, and what a new one may be."""

    items: list[KeyItem]
    presets: list[PresetItem]
    upgradeUrl: Annotated[str, Field(description="The page about paid plans.")]
    smtp: Annotated[SmtpServer | None, Field(description="Null if the service has no SMTP relay.")]


class SuppressionItem(TypedDict):
    """An address that the account does not send to."""

    address: Annotated[
        str, Field(description="In lower case, or a hash if the address was erased.")
    ]
    erased: Annotated[bool, Field(description="Whether `address` is a hash.")]
    reason: Annotated[str, Field(description="`bounced`, `complained` or `manual`.")]
    at: Timestamp
    messageId: Annotated[Uuid | None, Field(description="The message that caused it.")]


class SuppressionPage(TypedDict):
    """A part of the list, sorted by address."""

    items: list[SuppressionItem]
    nextCursor: Annotated[
        str | None, Field(description="For the parameter `cursor`; null at the end.")
    ]


class RefusedAddress(TypedDict):
    """An address that is not valid."""

    position: Annotated[int, Field(ge=0, description="In `addresses`, from 0 on.")]
    message: str


class AddedSuppressions(TypedDict):
    """The suppressions of the given addresses. An earlier one keeps its reason."""

    items: list[SuppressionItem]
    refused: Annotated[
        list[RefusedAddress], Field(description="Those of `addresses` that were left out.")
    ]


class MemberItem(TypedDict):
    """A user with a role in the account."""

    id: Annotated[str, Field(pattern="^[0-9a-z]{12}$")]
    email: str
    role: Role
    current: Annotated[bool, Field(description="Whether it is the user of the request.")]
    addedAt: Timestamp


class MemberList(TypedDict):
    """The members of the account, the oldest first."""

    items: list[MemberItem]


class AccountDetail(TypedDict):
    """The account of the session. A setting is null if nobody has set it."""

    id: str
    name: str
    plan: Plan
    createdAt: Timestamp
    limits: Annotated[list[LimitState], Field(description="What all keys together may send.")]
    brandName: str | None
    logoUrl: str | None
    accent: Annotated[str | None, Field(description="A colour such as `#0a7d5a`.")]
    fromName: Annotated[str | None, Field(description="The sender's display name.")]
    defaultSender: str | None


class ChangedSetting(TypedDict):
    """A setting before and after a change. Null if it is not set, or the plan's."""

    name: str
    before: str | int | bool | None
    after: str | int | bool | None


class LogItem(TypedDict):
    """What an operator of the service did to the account."""

    id: Uuid
    at: Timestamp
    action: AccountAction
    changes: list[ChangedSetting]


class AccountLog(TypedDict):
    """The last 50 entries of the account's log, the newest first."""

    items: list[LogItem]
