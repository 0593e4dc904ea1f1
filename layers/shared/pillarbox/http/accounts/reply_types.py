"""The JSON of each response about accounts, domains and senders, as `replies.py` writes it.

The OpenAPI document is made from these types, and no function loads them.

The OpenAPI document is made from these types, and no function loads them.
"""

from typing import Annotated, Literal, TypedDict

from pydantic import Field

from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.accounts.account_log import AccountAction
from pillarbox.domain.accounts.alert import AlertKind
from pillarbox.domain.accounts.key import Confirmation, KeyType, Preset
from pillarbox.domain.accounts.pause import PauseCause, PauseLevel, PauseScope
from pillarbox.domain.accounts.sender_domain import DomainState
from pillarbox.domain.sign_in.session import Role
from pillarbox.http.messages.reply_types import LimitState, NextCursor, Timestamp, Uuid


class AgentLimits(TypedDict):
    """What the key of an agent may do."""

    recipients: Annotated[
        list[str], Field(description="Addresses and domains that it may send to; `*` is every one.")
    ]
    confirmation: Annotated[
        Confirmation,
        Field(description="Who confirms each send: the agent's user, an owner, or nobody."),
    ]
    perDay: Annotated[int, Field(description="How many emails it may send a day.")]


class KeyItem(TypedDict):
    """An API key without its text."""

    id: str
    name: str
    ending: Annotated[
        str | None,
        Field(
            description="The last four characters of its text, to tell keys apart; null for a key"
            " that was made before they were stored."
        ),
    ]
    type: KeyType
    preset: Annotated[Preset | None, Field(description="Null for a preview key.")]
    scopes: Annotated[list[str], Field(description="The permissions of the key.")]
    agent: Annotated[AgentLimits | None, Field(description="Null if it is no agent's key.")]
    createdAt: Timestamp
    lastUsedAt: Annotated[
        Timestamp | None,
        Field(description="When it last sent a message, to within about an hour."),
    ]
    expiresAt: Annotated[
        Timestamp | None, Field(description="From when on it does not work; null: it stays.")
    ]
    sources: Annotated[
        list[str],
        Field(description="The blocks of addresses that it works from; none: from everywhere."),
    ]
    revokedAt: Annotated[Timestamp | None, Field(description="Null while the key works.")]


class CallerDetail(KeyItem):
    """The API key of the request, and the limits that apply to what it sends."""

    accountId: str
    plan: Plan
    limits: Annotated[
        list[LimitState],
        Field(
            description="The account's limits, which its keys share; a preview key has others. An"
            " agent's key shows its own limit where that has less left."
        ),
    ]


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


class PermissionItem(TypedDict):
    """What a permission allows."""

    scope: str
    allows: Annotated[str, Field(description='It completes the sentence "The key may …".')]


class SmtpServer(TypedDict):
    """Where programs submit emails over SMTP: with STARTTLS, as user `apikey` with the key."""

    host: str
    port: int


class ListedKey(KeyItem):
    """An API key in the list of its account."""

    createdBy: Annotated[
        str | None,
        Field(
            description="The member or the key that made it, or `operator`; null if that is not"
            " known."
        ),
    ]


class KeyList(TypedDict):
    """The keys of an account, the oldest first, and what a new one may be."""

    items: list[ListedKey]
    presets: list[PresetItem]
    permissions: Annotated[
        list[PermissionItem], Field(description="All that a key of an account can have.")
    ]
    upgradeUrl: Annotated[str, Field(description="The page about paid plans.")]
    smtp: Annotated[SmtpServer | None, Field(description="Null if the service has no SMTP relay.")]


class SuppressionItem(TypedDict):
    """An address that the account does not send to."""

    address: Annotated[
        str, Field(description="In lower case, or a hash if the address was erased.")
    ]
    erased: Annotated[bool, Field(description="Whether `address` is a hash.")]
    reason: Annotated[str, Field(description="`bounced`, `complained` or `manual`.")]
    createdAt: Timestamp
    messageId: Annotated[Uuid | None, Field(description="The message that caused it.")]


class SuppressionPage(TypedDict):
    """A part of the list, sorted by address."""

    items: list[SuppressionItem]
    nextCursor: NextCursor


class RefusedAddress(TypedDict):
    """An address that is not valid."""

    idx: Annotated[int, Field(ge=0, description="The position in `addresses`, from zero.")]
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
    pending: Annotated[
        bool,
        Field(description="Whether it has yet to agree. Until then it has no rights."),
    ]
    current: Annotated[bool, Field(description="Whether it is the user of the request.")]
    createdAt: Annotated[Timestamp, Field(description="When it was invited last, or added.")]


class MemberList(TypedDict):
    """The members of the account, the oldest first."""

    items: list[MemberItem]


class PauseItem(TypedDict):
    """A pause of the account, a key or a template, or a warning that there may soon be one."""

    scope: PauseScope
    id: Annotated[
        str | None,
        Field(description="The key, or the template by its id or slug; null for the account."),
    ]
    level: Annotated[
        PauseLevel,
        Field(
            description="`warn`: everything is sent. `brake`: a tenth of the limit of a minute is"
            " left. `stop`: nothing is accepted, except codes unless it is the account's."
        ),
    ]
    cause: PauseCause
    since: Timestamp
    until: Annotated[
        Timestamp | None, Field(description="When it ends; null if somebody has to end it.")
    ]
    resumable: Annotated[bool, Field(description="Whether an owner may end it now.")]


class AccountDetail(TypedDict):
    """The account of the session. A setting is null if it was never set."""

    id: str
    name: str
    plan: Plan
    createdAt: Timestamp
    limits: Annotated[list[LimitState], Field(description="What all keys together may send.")]
    brandName: str | None
    logoUrl: str | None
    accent: Annotated[str | None, Field(description="A colour such as `#0a7d5a`.")]
    fromName: Annotated[str | None, Field(description="The sender's display name.")]
    supportEmail: Annotated[str | None, Field(description="Where recipients get help.")]
    companyAddress: Annotated[str | None, Field(description="The postal address.")]
    actionUrl: Annotated[str | None, Field(description="The link of the button of `welcome`.")]
    defaultSender: str | None
    contact: Annotated[
        str | None,
        Field(
            description="Where the service writes to the account's owner. Without a default sender"
            " the account sends to this address only."
        ),
    ]
    keepDays: Annotated[int, Field(description="How long the content of emails is kept; 0: not.")]
    recordDays: Annotated[int, Field(description="When records are deleted; 0: never.")]
    pauses: Annotated[
        list[PauseItem], Field(description="What sends less or nothing now, and warnings.")
    ]


class ChangedSetting(TypedDict):
    """A setting, or a role, before and after a change. Null if it is not set, or the plan's."""

    name: str
    before: str | int | bool | None
    after: str | int | bool | None


class LogItem(TypedDict):
    """What was done to the account, or to what it has."""

    id: Uuid
    at: Timestamp
    action: AccountAction
    by: Annotated[
        str | None,
        Field(
            description="The address of a member, the id of a key, `operator` for the operator's"
            " command or `service` for the service itself. Members do not see which operator it"
            " was: null."
        ),
    ]
    subject: Annotated[
        str | None,
        Field(description="The key, member, endpoint or domain; null for the account itself."),
    ]
    count: Annotated[int, Field(description="How often, if it is a call: equal ones of a minute.")]
    changes: list[ChangedSetting]


class AccountLog(TypedDict):
    """A part of the account's log, the newest first."""

    items: list[LogItem]
    nextCursor: Annotated[str | None, Field(description="Null at the end.")]


class ChatPostItem(TypedDict):
    """How a post to the chat went."""

    at: Timestamp
    error: Annotated[str | None, Field(description="Why it failed; null if it did not.")]


class AlertDetail(TypedDict):
    """How the owners of the account hear of what happens in it."""

    mail: Annotated[bool, Field(description="Whether the owners and the contact get emails.")]
    chat: Annotated[
        str | None,
        Field(
            description="The host of the chat's webhook and the last four characters of its URL,"
            " which is a secret; null if there is none."
        ),
    ]
    chatAllowed: Annotated[
        bool, Field(description="False if the operator of the service switched webhooks off.")
    ]
    lastPost: Annotated[
        ChatPostItem | None, Field(description="The last post to the chat; null if there was none.")
    ]
    off: Annotated[list[AlertKind], Field(description="What they do not want to hear of.")]


class AlertTestResult(TypedDict):
    """What became of the test."""

    mail: Annotated[bool, Field(description="Whether the owners get an email, in a minute or two.")]
    post: Annotated[
        ChatPostItem | None, Field(description="The post to the chat; null if there is none.")
    ]


class RecordItem(TypedDict):
    """A DNS record that the domain needs."""

    purpose: Annotated[
        str,
        Field(
            description="`OWNERSHIP` lets this account use the domain, and `DKIM` lets it send."
            " The others make it more likely that mail arrives."
        ),
    ]
    type: Annotated[str, Field(description="`CNAME`, `MX` or `TXT`.")]
    host: Annotated[str, Field(description="The full name, without a dot at its end.")]
    value: Annotated[str, Field(description="An `MX` has its preference first.")]


class DnsAnswer(TypedDict):
    """What DNS says now."""

    status: Annotated[
        Literal["present", "missing", "differs", "unknown"],
        Field(description="`unknown`: DNS did not answer in time."),
    ]
    values: Annotated[list[str], Field(max_length=10, description="The values that DNS has.")]
    advice: Annotated[str, Field(description="What to do if DNS has another value; else empty.")]


class CheckedRecord(RecordItem):
    """A DNS record with what DNS says now."""

    dns: DnsAnswer


class _DomainFields(TypedDict):
    domain: str
    status: DomainState
    mailFrom: Annotated[str, Field(description="The label of its MAIL FROM domain.")]
    createdAt: Timestamp
    checkedAt: Annotated[Timestamp, Field(description="When the provider was asked about it.")]
    linkExpiresAt: Annotated[
        Timestamp | None,
        Field(description="Until when a link to its DNS records works; null if there is none."),
    ]


class DomainLinkItem(TypedDict):
    """A new link to the DNS records of a domain. Only this response has it."""

    url: Annotated[str, Field(description="It shows the records without signing in.")]
    expiresAt: Timestamp


class SharedDomain(TypedDict):
    """The DNS records of a domain, and what DNS says of each now, for its DNS administrator."""

    domain: str
    status: DomainState
    expiresAt: Annotated[Timestamp, Field(description="From when on the link does not work.")]
    records: list[CheckedRecord]


class DomainItem(_DomainFields):
    """A domain of the account with the DNS records that it needs."""

    records: list[RecordItem]


class DomainDetail(_DomainFields):
    """A domain of the account with its DNS records, and what DNS says of each now."""

    records: list[CheckedRecord]


class DomainList(TypedDict):
    """All domains of the account, sorted by name."""

    items: Annotated[list[DomainItem], Field(max_length=20)]


class SenderItem(TypedDict):
    """An address that the account sends from."""

    address: str
    verified: bool
    default: Annotated[bool, Field(description="Whether emails without `from` have it.")]


class SenderList(TypedDict):
    """All senders of the account, sorted by address."""

    items: list[SenderItem]
