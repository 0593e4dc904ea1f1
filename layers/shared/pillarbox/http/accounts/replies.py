"""Write the responses about an account, its keys, members and suppressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pillarbox.application.accounts.keys import refusal, refused_scopes
from pillarbox.domain.accounts.key import PRESET_SCOPES, SCOPES, Preset
from pillarbox.domain.accounts.suppression import is_hashed
from pillarbox.http.messages.replies import limit_states, timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from pillarbox.application.accounts.suppressions import SuppressionImport, SuppressionListPage
    from pillarbox.domain.accounts.account import Account, Plan
    from pillarbox.domain.accounts.account_log import LogEntry
    from pillarbox.domain.accounts.issued_key import IssuedKey
    from pillarbox.domain.accounts.key import ApiKey
    from pillarbox.domain.accounts.quota import QuotaState
    from pillarbox.domain.accounts.suppression import Suppression
    from pillarbox.domain.sign_in.session import Member
    from pillarbox.http.accounts import reply_types as account_types


def key_list(
    keys: Iterable[ApiKey],
    uses: Mapping[str, datetime],
    plan: Plan,
    upgrade_url: str,
    relay: tuple[str, int] | None,
) -> account_types.KeyList:
    """Return the keys of an account, and what a new one may be under its plan."""
    return {
        "items": [_key_item(key, uses.get(key.key_id)) for key in keys],
        "presets": [_preset_item(preset, plan) for preset in Preset],
        "upgradeUrl": upgrade_url,
        "smtp": {"host": relay[0], "port": relay[1]} if relay else None,
    }


def new_key(issued: IssuedKey) -> account_types.NewKey:
    """Return a new key with its text."""
    return {**_key_item(issued.record, None), "key": issued.text}


def _key_item(key: ApiKey, used_at: datetime | None) -> account_types.KeyItem:
    return {
        "id": key.key_id,
        "name": key.name,
        "type": key.type,
        "preset": key.preset,
        "scopes": sorted(key.scopes),
        "agent": key.agent is not None,
        "createdAt": timestamp(key.created_at),
        "lastUsedAt": timestamp(used_at) if used_at else None,
        "revokedAt": timestamp(key.revoked_at) if key.revoked_at else None,
    }


def _preset_item(preset: Preset, plan: Plan) -> account_types.PresetItem:
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
    return {"items": [*map(_suppression_item, page.items)], "nextCursor": page.following}


def added_suppressions(added: SuppressionImport) -> account_types.AddedSuppressions:
    """Return new suppressions, and the addresses that were refused."""
    return {
        "items": [*map(_suppression_item, added.items)],
        "refused": [
            {"position": position, "message": error.message} for position, error in added.refused
        ],
    }


def _suppression_item(suppression: Suppression) -> account_types.SuppressionItem:
    return {
        "address": suppression.address,
        "erased": is_hashed(suppression.address),
        "reason": suppression.reason,
        "at": timestamp(suppression.at),
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
        "current": member.user_id == user_id,
        "addedAt": timestamp(member.added_at),
    }


def account_detail(account: Account, quota: QuotaState) -> account_types.AccountDetail:
    """Return an account with its limits and its brand."""
    brand = account.brand
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
        "defaultSender": account.default_sender,
    }


def account_log(entries: Iterable[LogEntry]) -> account_types.AccountLog:
    """Return an account's log for its members: operators' names and reasons are not in it."""
    return {"items": [*map(log_item, entries)]}


def log_item(entry: LogEntry) -> account_types.LogItem:
    """Return what all may see of an entry."""
    return {
        "id": entry.entry_id,
        "at": timestamp(entry.at),
        "action": entry.action,
        "changes": [
            {"name": name, "before": before, "after": after}
            for name, (before, after) in entry.changes.items()
        ],
    }
