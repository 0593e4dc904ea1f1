"""Write the responses to operators of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pillarbox.http.account_replies import log_item
from pillarbox.http.replies import limit_states, timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pillarbox.application.accounts.account_list import AccountListPage
    from pillarbox.domain.account import Account
    from pillarbox.domain.account_log import LogEntry
    from pillarbox.domain.quota import QuotaState
    from pillarbox.http import operator_types


def account_page(page: AccountListPage) -> operator_types.AccountPage:
    """Return a part of the list."""
    items = [_listed_account(account, quota) for account, quota in page.items]
    return {"items": items, "nextCursor": page.following}


def operated_account(
    account: Account, quota: QuotaState, log: Iterable[LogEntry]
) -> operator_types.OperatedAccount:
    """Return an account with its limits and its log."""
    own, suspension = account.overrides, account.suspension
    return {
        **_listed_account(account, quota),
        "suspensionReason": suspension.reason if suspension else None,
        "contact": account.contact,
        "defaultSender": account.default_sender,
        "shards": account.shards,
        "limits": limit_states(quota),
        "ownLimits": {
            "perMinute": own.per_minute,
            "perDay": own.per_day,
            "perMonth": own.per_month,
            "recipientsPerDay": own.recipients_per_day,
        },
        "log": [{**log_item(entry), "by": entry.by, "reason": entry.reason} for entry in log],
    }


def _listed_account(account: Account, quota: QuotaState) -> operator_types.ListedAccount:
    (month,) = (usage for usage in quota.windows if usage.window == "month")
    return {
        "id": account.account_id,
        "name": account.name,
        "plan": account.plan,
        "createdAt": timestamp(account.created_at),
        "suspendedAt": timestamp(account.suspension.at) if account.suspension else None,
        "usedThisMonth": month.used,
        "monthlyLimit": month.limit,
    }
