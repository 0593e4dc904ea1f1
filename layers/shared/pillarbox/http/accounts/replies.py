"""The shapes of an account and what it has: keys, members, suppressions, domains and senders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pillarbox.domain.accounts.key import PRESET_SCOPES, SCOPES, Preset
from pillarbox.domain.accounts.suppression import is_hashed
from pillarbox.domain.errors import cut
from pillarbox.http.messages.replies import View, taken_from
from pillarbox.http.messages.views import LimitState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Annotated, Literal

    from pydantic import Field

    from pillarbox.application.accounts.ports import DnsRecord
    from pillarbox.domain.accounts.account import Account, Plan
    from pillarbox.domain.accounts.account_domain import AccountDomain
    from pillarbox.domain.accounts.account_log import AccountAction
    from pillarbox.domain.accounts.alert import AlertKind
    from pillarbox.domain.accounts.key import ApiKey, Confirmation, KeyType
    from pillarbox.domain.accounts.pause import Pause, PauseCause, PauseLevel, PauseScope
    from pillarbox.domain.accounts.quota import QuotaState
    from pillarbox.domain.accounts.sender_domain import DomainState
    from pillarbox.domain.sign_in.session import Member, Role
    from pillarbox.http.json_types import NextCursor, ShortId, Timestamp, Uuid

#: Strangers may have written DNS records, so a response shows so many values and bytes of each.
_MAX_VALUES: Final = 10
_MAX_VALUE: Final = 512


class AgentLimits(View):
    """What the key of an agent may do."""

    recipients: list[str]
    """Addresses and domains that it may send to; `*` is every one."""
    confirmation: Confirmation
    """Who confirms each send: the agent's user, an owner, or none of them."""
    per_day: int
    """How many emails it may send a day."""


class KeyItem(View):
    """An API key without its text."""

    id: str = taken_from("key_id")
    name: str
    ending: str | None
    """The last four characters of its text, to tell keys apart; null for a key that was made before
    they were stored."""
    type: KeyType
    preset: Preset | None
    """Null for a preview key."""
    scopes: list[str]
    """The permissions of the key."""
    agent: AgentLimits | None
    """Null if it is no agent's key."""
    created_at: Timestamp
    last_used_at: Timestamp | None = taken_from(lambda _: None)
    """When it last sent a message, to within about an hour."""
    expires_at: Timestamp | None
    """From when on it does not work; null: it stays."""
    sources: list[str]
    """The blocks of addresses that it works from; none: from everywhere."""
    revoked_at: Timestamp | None
    """Null while the key works."""


class CallerDetail(KeyItem, under="principal.key"):
    """The API key of the request, and the limits that apply to what it sends."""

    last_used_at: Timestamp | None
    account_id: str = taken_from("principal.account.account_id")
    plan: Plan = taken_from("principal.account.plan")
    limits: list[LimitState] = taken_from("quota.windows", LimitState)
    """The account's limits, which its keys share; a preview key has others. An agent's key shows
    its own limit where that has less left."""


class NewKey(KeyItem, under="record"):
    """A new API key. Only this response has its text."""

    key: str = taken_from("text")
    """Save it now: it is shown only once."""


class PresetItem(View, name="KeyPreset"):
    """A named set of permissions for a new key, under the account's plan."""

    preset: Preset
    scopes: list[str]
    """What the key gets; for `custom` what it can get."""
    refused_scopes: list[str]
    """Those that the plan does not allow."""
    allowed: bool
    """Whether the plan allows the preset."""
    reason: str | None
    """Why scopes are refused."""


class PermissionItem(View):
    """What a permission allows."""

    scope: str
    allows: str
    """It completes the sentence "The key may …"."""


class SmtpServer(View):
    """Where programs submit emails over SMTP: with STARTTLS, as user `apikey` with the key."""

    host: str
    port: int


class ListedKey(KeyItem, name="Key"):
    """An API key in the list of its account."""

    created_by: str | None
    """The member or the key that made it, or `operator`; null if that is not known."""


class KeyList(View):
    """The keys of an account, the oldest first, and what a new one may be."""

    items: list[ListedKey]
    presets: list[PresetItem]
    permissions: list[PermissionItem]
    """All that a key of an account can have."""
    upgrade_url: str
    """The page about paid plans."""
    smtp: SmtpServer | None
    """Null if the service has no SMTP relay."""


def key_list(
    keys: Iterable[ApiKey],
    uses: Mapping[str, datetime],
    plan: Plan,
    upgrade_url: str,
    relay: tuple[str, int] | None,
) -> dict[str, Any]:
    from pillarbox.domain.accounts.key_terms import SCOPE_WORDS  # noqa: PLC0415  only here

    return KeyList.of(
        items=[ListedKey.of(key, last_used_at=uses.get(key.key_id)) for key in keys],
        presets=[_preset_item(preset, plan) for preset in Preset],
        permissions=[
            {"scope": scope, "allows": words}
            for scope, words in SCOPE_WORDS.items()
            if scope in SCOPES
        ],
        upgrade_url=upgrade_url,
        smtp={"host": relay[0], "port": relay[1]} if relay else None,
    )


def _preset_item(preset: Preset, plan: Plan) -> dict[str, Any]:
    from pillarbox.application.accounts.keys import (  # noqa: PLC0415  few replies need it
        refusal,
        refused_scopes,
    )

    scopes = SCOPES if preset is Preset.CUSTOM else PRESET_SCOPES[preset]
    refused = refused_scopes(plan, scopes)
    return PresetItem.of(
        preset=preset,
        scopes=scopes,
        refused_scopes=refused,
        allowed=preset is Preset.CUSTOM or not refused,
        reason=refusal(plan, refused) if refused else None,
    )


class SuppressionItem(View, name="Suppression"):
    """An address that the account does not send to."""

    address: str
    """In lower case, or a hash if the address was erased."""
    erased: bool = taken_from(lambda one: is_hashed(one.address))
    """Whether `address` is a hash."""
    reason: str
    """`bounced`, `complained` or `manual`."""
    created_at: Timestamp = taken_from("at")
    message_id: Uuid | None
    """The message that caused it."""


class SuppressionPage(View):
    """A part of the list, sorted by address."""

    items: list[SuppressionItem]
    next_cursor: NextCursor = taken_from("next")


class RefusedAddress(View):
    """An address that is not valid."""

    idx: Annotated[int, Field(ge=0)]
    """The position in `addresses`, from zero."""
    message: str


class AddedSuppressions(View):
    """The suppressions of the given addresses. An earlier one keeps its reason."""

    items: list[SuppressionItem]
    refused: list[RefusedAddress] = taken_from(
        lambda added: [{"idx": at, "message": error.message} for at, error in added.refused]
    )
    """Those of `addresses` that were left out."""


class MemberItem(View, name="Member"):
    """A user with a role in the account."""

    id: ShortId = taken_from("user_id")
    email: str = taken_from("address")
    role: Role
    pending: bool
    """Whether it has yet to agree. Until then it has no rights."""
    current: bool
    """Whether it is the user of the request."""
    created_at: Timestamp = taken_from("added_at")
    """When it was invited last, or added."""


class MemberList(View):
    """The members of the account, the oldest first."""

    items: list[MemberItem]


def member_item(member: Member, user_id: str) -> dict[str, Any]:
    """Return a member; `user_id` is the caller's."""
    return MemberItem.of(member, current=member.user_id == user_id)


class PauseItem(View):
    """A pause of the account, a key or a template, or a warning that there may soon be one."""

    scope: PauseScope
    id: str | None = taken_from(lambda pause: pause.id or None)
    """The key, or the template by its id or slug; null for the account."""
    level: PauseLevel
    """`warn`: everything is sent. `brake`: a tenth of the limit of a minute is left. `stop`:
    nothing is accepted, except codes unless it is the account's."""
    cause: PauseCause
    since: Timestamp
    until: Timestamp | None
    """When it ends; null if somebody has to end it."""
    resumable: bool
    """Whether an owner may end it now."""


def pause_item(pause: Pause, now: datetime) -> dict[str, Any]:
    """Return a pause, as of a moment."""
    from pillarbox.application.accounts.resuming import is_resumable  # noqa: PLC0415  only here

    return PauseItem.of(pause, resumable=is_resumable(pause, now))


class AccountDetail(View, name="Account"):
    """The account of the session. A setting is null if it was never set."""

    id: str = taken_from("account_id")
    name: str
    plan: Plan
    created_at: Timestamp
    limits: list[LimitState] = taken_from("limits", LimitState)
    """What all keys together may send."""
    brand_name: str | None = taken_from("brand.name")
    logo_url: str | None = taken_from("brand.logo_url")
    accent: str | None = taken_from("brand.accent")
    """A colour such as `#0a7d5a`."""
    from_name: str | None = taken_from("brand.from_name")
    """The sender's display name."""
    support_email: str | None = taken_from("brand.support_email")
    """Where recipients get help."""
    company_address: str | None = taken_from("brand.company_address")
    """The postal address."""
    action_url: str | None = taken_from("brand.action_url")
    """The link of the button of `welcome`."""
    default_sender: str | None
    contact: str | None
    """Where the service writes to the account's owner. Without a default sender the account sends
    to this address only."""
    keep_days: int = taken_from("keep")
    """How long the content of emails is kept; 0: not."""
    record_days: int
    """When records are deleted; 0: never."""
    replies: bool
    """Whether answers come back to emails whose send does not say so."""
    reply_domain: str | None
    """Where they come; null: no domain of the account receives."""
    received_days: int
    """How long received mail is kept."""
    pauses: list[PauseItem]
    """What sends less or nothing now, and warnings."""


def account_detail(account: Account, quota: QuotaState) -> dict[str, Any]:
    return AccountDetail.of(account, **of_moment(account, quota))


def of_moment(account: Account, quota: QuotaState) -> dict[str, Any]:
    """Return what an account has at a moment, by members of `AccountDetail`."""
    pauses = [pause_item(one, quota.now) for one in account.pauses if one.is_current(quota.now)]
    return {"limits": quota.windows, "pauses": pauses}


class ChangedSetting(View):
    """A setting, or a role, before and after a change. Null if it is not set, or the plan's."""

    name: str
    before: str | int | bool | None
    after: str | int | bool | None


class LogItem(View):
    """What was done to the account, or to what it has."""

    id: Uuid = taken_from("entry_id")
    at: Timestamp
    action: AccountAction
    by: str | None = taken_from(lambda entry: None if entry.action.of_operators else entry.by)
    """The address of a member, the id of a key, `operator` for the operator's command or `service`
    for the service itself. Members do not see which operator it was: null."""
    subject: str | None
    """The key, member, endpoint or domain; null for the account itself."""
    count: int
    """How often, if it is a call: equal ones of a minute."""
    changes: list[ChangedSetting] = taken_from(
        lambda entry: [
            {"name": name, "before": before, "after": after}
            for name, (before, after) in entry.changes.items()
        ]
    )


class AccountLog(View):
    """A part of the account's log, the newest first."""

    items: list[LogItem]
    next_cursor: str | None = taken_from("next")
    """Null at the end."""


class ChatPostItem(View):
    """How a post to the chat went."""

    at: Timestamp
    error: str | None
    """Why it failed; null if it did not."""


class AlertDetail(View):
    """How the owners of the account hear of what happens in it."""

    mail: bool
    """Whether the owners and the contact get emails."""
    chat: str | None
    """The host of the chat's webhook and the last four characters of its URL, which is a secret;
    null if there is none."""
    chat_allowed: bool
    """False if the operator of the service switched webhooks off."""
    last_post: ChatPostItem | None
    """The last post to the chat; null if there was none."""
    off: list[AlertKind]
    """What they do not want to hear of."""


class AlertTestResult(View):
    """What became of the test."""

    mail: bool
    """Whether the owners get an email, in a minute or two."""
    post: ChatPostItem | None = taken_from("chat")
    """The post to the chat; null if there is none."""


class RecordItem(View, name="DnsRecord"):
    """A DNS record that the domain needs."""

    purpose: str
    """`OWNERSHIP` lets this account use the domain, and `DKIM` lets it send. The others make it
    more likely that mail arrives."""
    type: str
    """`CNAME`, `MX` or `TXT`."""
    host: str = taken_from("name")
    """The full name, without a dot at its end."""
    value: str
    """An `MX` has its preference first."""


class DnsAnswer(View):
    """What DNS says now."""

    status: Literal["present", "missing", "differs", "unknown"] = taken_from("state")
    """`unknown`: DNS did not answer in time."""
    values: Annotated[list[str], Field(max_length=10)] = taken_from(
        lambda check: [cut(value, _MAX_VALUE) for value in check.values[:_MAX_VALUES]]
    )
    """The values that DNS has."""
    advice: str = taken_from(lambda check: cut(check.advice, _MAX_VALUE))
    """What to do if DNS has another value; else empty."""


class CheckedRecord(RecordItem, name="CheckedDnsRecord", under="record"):
    """A DNS record with what DNS says now."""

    dns: DnsAnswer = taken_from(lambda check: check)


def _records_of(domain: AccountDomain) -> Sequence[DnsRecord]:
    from pillarbox.application.accounts.domains import records_of  # noqa: PLC0415  only here

    return records_of(domain)


class _DomainFields(View):
    domain: str = taken_from("name")
    status: DomainState = taken_from("state")
    mail_from: str
    """The label of its MAIL FROM domain."""
    created_at: Timestamp = taken_from("added_at")
    checked_at: Timestamp
    """When the provider was asked about it."""
    link_expires_at: Timestamp | None = taken_from("link.expires_at")
    """Until when a link to its DNS records works; null if there is none."""
    receives: str | None
    """The domain below it that receives answers; null: none."""
    receive_names: list[str]
    """The names there that get mail which answers no email."""


class DomainLinkItem(View):
    """A new link to the DNS records of a domain. Only this response has it."""

    url: str
    """It shows the records without signing in."""
    expires_at: Timestamp


class SharedDomain(View):
    """The DNS records of a domain, and what DNS says of each now, for its DNS administrator."""

    domain: str = taken_from("domain.name")
    status: DomainState = taken_from("domain.state")
    expires_at: Timestamp = taken_from("domain.link.expires_at")
    """From when on the link does not work."""
    records: list[CheckedRecord]


class DomainItem(_DomainFields, name="Domain"):
    """A domain of the account with the DNS records that it needs."""

    records: list[RecordItem] = taken_from(_records_of)


class DomainDetail(_DomainFields, under="domain"):
    """A domain of the account with its DNS records, and what DNS says of each now."""

    records: list[CheckedRecord]


class DomainList(View):
    """All domains of the account, sorted by name."""

    items: Annotated[list[DomainItem], Field(max_length=20)]


class SenderItem(View, name="Sender"):
    """An address that the account sends from."""

    address: str
    verified: bool
    default: bool
    """Whether emails without `from` have it."""


class SenderList(View):
    """All senders of the account, sorted by address."""

    items: list[SenderItem]
