"""Write the responses to operators of the service."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from pillarbox.application.history.queries import MessageCounts
from pillarbox.application.operator.ranking import rank
from pillarbox.domain.messages.message import Status
from pillarbox.http.accounts.replies import account_detail, log_item
from pillarbox.http.messages.replies import limit_states, timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from pillarbox.application.accounts.account_list import AccountListPage
    from pillarbox.application.operator.account_deletion import DeletionResult
    from pillarbox.application.operator.checks import Finding
    from pillarbox.application.operator.ports import QueueStatus
    from pillarbox.application.operator.ranking import AccountCounts, RankBy
    from pillarbox.domain.accounts.account import Account
    from pillarbox.domain.accounts.account_log import LogEntry
    from pillarbox.domain.accounts.quota import QuotaState
    from pillarbox.domain.queue_log import Redrive
    from pillarbox.http.operator import reply_types as operator_types

#: The accounts of a ranking that a response lists.
_MAX_RANKED: Final = 100


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
        **account_detail(account, quota),
        "suspendedAt": _suspended_at(account),
        "suspensionReason": suspension.reason if suspension else None,
        "contact": account.contact,
        "shards": account.shards,
        "ownLimits": {
            "perMinute": own.per_minute,
            "perDay": own.per_day,
            "perMonth": own.per_month,
            "recipientsPerDay": own.recipients_per_day,
        },
        "log": [{**log_item(entry), "by": entry.by, "reason": entry.reason} for entry in log],
    }


def deletion_state(account_id: str, result: DeletionResult) -> operator_types.DeletionState:
    """Return what one request deleted."""
    return {"id": account_id, "done": result.done, "items": result.items.total()}


def _listed_account(account: Account, quota: QuotaState) -> operator_types.ListedAccount:
    return {
        "id": account.account_id,
        "name": account.name,
        "plan": account.plan,
        "createdAt": timestamp(account.created_at),
        "suspendedAt": _suspended_at(account),
        "limits": limit_states(quota),
    }


def _suspended_at(account: Account) -> str | None:
    return timestamp(account.suspension.at) if account.suspension else None


def rates_result(
    counted: Sequence[AccountCounts],
    by: RankBy,
    since: datetime,
    until: datetime,
    limit: int = _MAX_RANKED,
) -> operator_types.RatesResult:
    """Return what all accounts sent together, and at most so many with the most of something."""
    ranked = rank(counted, by)
    return {
        "windowStart": timestamp(since),
        "windowEnd": timestamp(until),
        "allAccounts": _rates(counted),
        "total": len(ranked),
        "items": [
            {
                **_rates([each]),
                "id": each.account.account_id,
                "name": each.account.name,
                "plan": each.account.plan,
                "suspendedAt": _suspended_at(each.account),
            }
            for each in ranked[:limit]
        ],
    }


def _rates(counted: Sequence[AccountCounts]) -> operator_types.SendingRates:
    reached = sum((each.counts.reached for each in counted), Counter[Status]())
    together = MessageCounts(sum(each.counts.count for each in counted), reached)
    unconfirmed = [each.unconfirmed for each in counted if each.unconfirmed is not None]
    return {
        "totalMessages": together.count,
        "sent": reached[Status.SENT],
        "delivered": reached[Status.DELIVERED],
        "bounced": reached[Status.BOUNCED],
        "complained": reached[Status.COMPLAINED],
        "unconfirmed": sum(unconfirmed) if unconfirmed else None,
        "deliveryRate": together.rate(Status.DELIVERED),
        "bounceRate": together.rate(Status.BOUNCED),
        "complaintRate": together.rate(Status.COMPLAINED),
    }


def queue_list(
    status: Mapping[str, tuple[QueueStatus, QueueStatus | None]],
    ages: Mapping[str, float | None],
    redrives: Iterable[Redrive],
) -> operator_types.QueueList:
    """Return the queues with their dead letters, and what operators moved."""
    return {
        "items": [
            {
                "name": name,
                "waiting": queue.waiting,
                "inFlight": queue.in_flight,
                "delayed": queue.delayed,
                "oldestSeconds": ages[name],
                "dead": dead_letters.waiting if dead_letters else None,
            }
            for name, (queue, dead_letters) in status.items()
        ],
        "redrives": [
            {
                "id": redrive.entry_id,
                "at": timestamp(redrive.at),
                "by": redrive.by,
                "queue": redrive.queue,
                "moved": redrive.moved,
                "dropped": redrive.dropped,
            }
            for redrive in redrives
        ],
    }


def moved_letters(queue: str, moved: int) -> operator_types.MovedLetters:
    """Return what a redrive did."""
    return {"queue": queue, "moved": moved}


def check_list(findings: Iterable[Finding]) -> operator_types.CheckList:
    """Return what the checks found."""
    return {
        "items": [
            {
                "check": finding.check,
                "verdict": finding.verdict,
                "message": finding.message,
                "remedy": finding.remedy or None,
            }
            for finding in findings
        ]
    }
