"""Write the responses about an account: its keys, members, suppressions, domains and senders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from pillarbox.domain.accounts.key import PRESET_SCOPES, SCOPES, Preset
from pillarbox.domain.accounts.suppression import is_hashed
from pillarbox.domain.errors import cut
from pillarbox.http.messages.replies import limit_states, timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from pillarbox.application.accounts.accounts import LogPage
    from pillarbox.application.accounts.dns_records import RecordCheck
    from pillarbox.application.accounts.domain_links import SharedLink
    from pillarbox.application.accounts.domains import CheckedDomain
    from pillarbox.application.accounts.ports import DnsRecord
    from pillarbox.application.accounts.senders import AccountSender
    from pillarbox.application.accounts.suppressions import SuppressionImport, SuppressionListPage
    from pillarbox.application.alerts.choices import AlertTest
    from pillarbox.application.caller import CallerProfile
    from pillarbox.domain.accounts.account import Account, Plan
    from pillarbox.domain.accounts.account_domain import AccountDomain
    from pillarbox.domain.accounts.account_log import LogEntry
    from pillarbox.domain.accounts.alert import AlertSettings, ChatState
    from pillarbox.domain.accounts.issued_key import IssuedKey
    from pillarbox.domain.accounts.key import AgentSettings, ApiKey
    from pillarbox.domain.accounts.pause import Pause
    from pillarbox.domain.accounts.quota import QuotaState
    from pillarbox.domain.accounts.suppression import Suppression
    from pillarbox.domain.sign_in.session import Member
    from pillarbox.http.accounts import reply_types as account_types

#: Strangers may have written DNS records, so a response shows so many values and bytes of each.
_MAX_VALUES: Final = 10
_MAX_VALUE: Final = 512


def key_list(
    keys: Iterable[ApiKey],
    uses: Mapping[str, datetime],
    plan: Plan,
    upgrade_url: str,
    relay: tuple[str, int] | None,
) -> account_types.KeyList:
    """Return the keys of an account, and what a new one may be under its plan."""
    from pillarbox.domain.accounts.scope_words import SCOPE_WORDS  # noqa: PLC0415  only here

    return {
        "items": [
            {**key_item(key, uses.get(key.key_id)), "createdBy": key.created_by} for key in keys
        ],
        "presets": [_preset_item(preset, plan) for preset in Preset],
        "permissions": [
            {"scope": scope, "allows": words}
            for scope, words in SCOPE_WORDS.items()
            if scope in SCOPES
        ],
        "upgradeUrl": upgrade_url,
        "smtp": {"host": relay[0], "port": relay[1]} if relay else None,
    }


def caller_detail(caller: CallerProfile) -> account_types.CallerDetail:
    """Return the key of a caller with its limits. The contract does not have it."""
    account = caller.principal.account
    return {
        **key_item(caller.principal.key, caller.last_used_at),
        "accountId": account.account_id,
        "plan": account.plan,
        "limits": limit_states(caller.quota),
    }


def new_key(issued: IssuedKey) -> account_types.NewKey:
    """Return a new key with its text."""
    return {**key_item(issued.record, None), "key": issued.text}


def key_item(key: ApiKey, used_at: datetime | None) -> account_types.KeyItem:
    """Return a key; `used_at` is when it last sent a message."""
    return {
        "id": key.key_id,
        "name": key.name,
        "ending": key.ending,
        "type": key.type,
        "preset": key.preset,
        "scopes": sorted(key.scopes),
        "agent": _agent_limits(key.agent) if key.agent else None,
        "createdAt": timestamp(key.created_at),
        "lastUsedAt": timestamp(used_at) if used_at else None,
        "expiresAt": timestamp(key.expires_at) if key.expires_at else None,
        "sources": [*key.sources],
        "revokedAt": timestamp(key.revoked_at) if key.revoked_at else None,
    }


def _agent_limits(agent: AgentSettings) -> account_types.AgentLimits:
    return {
        "recipients": [*agent.recipients],
        "confirmation": agent.confirmation,
        "perDay": agent.per_day,
    }


def _preset_item(preset: Preset, plan: Plan) -> account_types.PresetItem:
    from pillarbox.application.accounts.keys import (  # noqa: PLC0415  few replies need it
        refusal,
        refused_scopes,
    )

    scopes = SCOPES if preset is Preset.CUSTOM else PRESET_SCOPES[preset]
    refused = refused_scopes(plan, scopes)
    return {
        "preset": preset,
        "scopes": sorted(scopes),
        "refusedScopes": [*refused],
        "allowed": preset is Preset.CUSTOM or not refused,
        "reason": refusal(plan, refused) if refused else None,
    }


def suppression_page(page: SuppressionListPage) -> account_types.SuppressionPage:
    """Return a part of the list."""
    return {"items": [*map(suppression_item, page.items)], "nextCursor": page.following}


def added_suppressions(added: SuppressionImport) -> account_types.AddedSuppressions:
    """Return new suppressions, and the addresses that were refused."""
    return {
        "items": [*map(suppression_item, added.items)],
        "refused": [
            {"idx": position, "message": error.message} for position, error in added.refused
        ],
    }


def suppression_item(suppression: Suppression) -> account_types.SuppressionItem:
    """Return a suppression."""
    return {
        "address": suppression.address,
        "erased": is_hashed(suppression.address),
        "reason": suppression.reason,
        "createdAt": timestamp(suppression.at),
        "messageId": str(suppression.message_id) if suppression.message_id else None,
    }


def member_list(members: Sequence[Member], user_id: str) -> account_types.MemberList:
    """Return the members of an account; `user_id` is the caller's."""
    return {"items": [member_item(member, user_id) for member in members]}


def member_item(member: Member, user_id: str) -> account_types.MemberItem:
    """Return a member; `user_id` is the caller's."""
    return {
        "id": member.user_id,
        "email": member.address,
        "role": member.role,
        "pending": member.pending,
        "current": member.user_id == user_id,
        "createdAt": timestamp(member.added_at),
    }


def account_detail(account: Account, quota: QuotaState) -> account_types.AccountDetail:
    """Return an account with its limits, its brand and its pauses."""
    brand, now = account.brand, quota.now
    return {
        "id": account.account_id,
        "name": account.name,
        "plan": account.plan,
        "createdAt": timestamp(account.created_at),
        "limits": limit_states(quota),
        "brandName": brand.name,
        "logoUrl": brand.logo_url,
        "accent": brand.accent,
        "fromName": brand.from_name,
        "supportEmail": brand.support_email,
        "companyAddress": brand.company_address,
        "actionUrl": brand.action_url,
        "defaultSender": account.default_sender,
        "contact": account.contact,
        "keepDays": account.keep,
        "recordDays": account.record_days,
        "pauses": [pause_item(one, now) for one in account.pauses if one.is_current(now)],
    }


def pause_item(pause: Pause, now: datetime) -> account_types.PauseItem:
    """Return a pause, as of a moment."""
    from pillarbox.application.accounts.resuming import is_resumable  # noqa: PLC0415  only here

    return {
        "scope": pause.scope,
        "id": pause.id or None,
        "level": pause.level,
        "cause": pause.cause,
        "since": timestamp(pause.since),
        "until": timestamp(pause.until) if pause.until else None,
        "resumable": is_resumable(pause, now),
    }


def account_log(page: LogPage) -> account_types.AccountLog:
    """Return an account's log for its members: operators' names and reasons are not in it."""
    return {"items": [*map(log_item, page.items)], "nextCursor": page.following}


def log_item(entry: LogEntry) -> account_types.LogItem:
    """Return what all may see of an entry."""
    return {
        "id": entry.entry_id,
        "at": timestamp(entry.at),
        "action": entry.action,
        "by": None if entry.action.of_operators else entry.by,
        "subject": entry.subject,
        "count": entry.count,
        "changes": [
            {"name": name, "before": before, "after": after}
            for name, (before, after) in entry.changes.items()
        ],
    }


def alert_detail(
    settings: AlertSettings, last: ChatState | None, *, chat_allowed: bool
) -> account_types.AlertDetail:
    """Return what owners chose to hear of."""
    return {
        "mail": settings.mail,
        "chat": settings.chat,
        "chatAllowed": chat_allowed,
        "lastPost": _chat_post(last),
        "off": sorted(settings.off),
    }


def alert_test(test: AlertTest) -> account_types.AlertTestResult:
    """Return what became of a test."""
    return {"mail": test.mail, "post": _chat_post(test.chat)}


def _chat_post(state: ChatState | None) -> account_types.ChatPostItem | None:
    return {"at": timestamp(state.at), "error": state.error} if state else None


def domain_item(domain: AccountDomain) -> account_types.DomainItem:
    """Return a domain with the records that it needs."""
    from pillarbox.application.accounts.domains import (  # noqa: PLC0415  only here
        records_of,
    )

    return {
        "domain": domain.name,
        "status": domain.state,
        "mailFrom": domain.mail_from,
        "createdAt": timestamp(domain.added_at),
        "checkedAt": timestamp(domain.checked_at),
        "linkExpiresAt": timestamp(domain.link.expires_at) if domain.link else None,
        "records": [_record_item(record) for record in records_of(domain)],
    }


def domain_list(domains: Sequence[AccountDomain]) -> account_types.DomainList:
    """Return an account's domains."""
    return {"items": [domain_item(domain) for domain in domains]}


def domain_detail(checked: CheckedDomain) -> account_types.DomainDetail:
    """Return a domain with what DNS says of each record."""
    return {
        **domain_item(checked.domain),
        "records": [checked_record(check) for check in checked.records],
    }


def domain_link_item(link: SharedLink) -> account_types.DomainLinkItem:
    """Return a new link."""
    return {"url": link.url, "expiresAt": timestamp(link.expires_at)}


def shared_domain(checked: CheckedDomain) -> account_types.SharedDomain:
    """Return what a link to a domain shows."""
    domain, link = checked.domain, checked.domain.link
    return {
        "domain": domain.name,
        "status": domain.state,
        "expiresAt": timestamp(link.expires_at if link else domain.checked_at),
        "records": [checked_record(check) for check in checked.records],
    }


def sender_item(sender: AccountSender) -> account_types.SenderItem:
    """Return a sender."""
    return {"address": sender.address, "verified": sender.verified, "default": sender.default}


def sender_list(senders: Sequence[AccountSender]) -> account_types.SenderList:
    """Return an account's senders."""
    return {"items": [sender_item(sender) for sender in senders]}


def _record_item(record: DnsRecord) -> account_types.RecordItem:
    return {
        "purpose": record.purpose,
        "type": record.type,
        "host": record.name,
        "value": record.value,
    }


def checked_record(check: RecordCheck) -> account_types.CheckedRecord:
    """Return a record with what DNS says of it."""
    answer = {
        "status": check.state.value,
        "values": [cut(value, _MAX_VALUE) for value in check.values[:_MAX_VALUES]],
        "advice": cut(check.advice, _MAX_VALUE),
    }
    return {**_record_item(check.record), "dns": cast("account_types.DnsAnswer", answer)}
