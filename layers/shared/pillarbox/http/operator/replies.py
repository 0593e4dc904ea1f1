"""The shapes of what operators of the service see."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from pillarbox.application.history.queries import MessageCounts
from pillarbox.application.history.ranking import rank
from pillarbox.domain.messages.message import Status
from pillarbox.http.accounts.replies import AccountDetail, LogItem, of_moment
from pillarbox.http.messages.replies import View, taken_from
from pillarbox.http.messages.views import LimitState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Annotated

    from pydantic import Field

    from pillarbox.application.history.ranking import AccountCounts, RankBy
    from pillarbox.application.operator.checks import Verdict
    from pillarbox.application.operator.ports import QueueStatus, Redrive
    from pillarbox.domain.accounts.account import Account, Isolation, Plan, QueuedMail
    from pillarbox.domain.accounts.account_log import LogEntry
    from pillarbox.domain.accounts.quota import QuotaState
    from pillarbox.http.json_types import NextCursor, Rate, ShortId, Timestamp, Uuid

    type QueueName = Annotated[
        str, Field(description="`jobs`, `urgent`, `events`, `sweep`, `webhooks` or `received`.")
    ]
    type OperatorName = Annotated[
        str, Field(description="The operator's address, or `operator` for the command.")
    ]
    type OwnLimit = Annotated[int | None, Field(description="Null for the plan's limit.")]

#: The accounts of a ranking that a response lists.
_MAX_RANKED: Final = 100


class ListedAccount(View):
    """An account of the service."""

    id: ShortId = taken_from("account_id")
    name: str
    plan: Plan
    created_at: Timestamp
    suspended_at: Timestamp | None = taken_from("suspension.at")
    """Null if it is not suspended."""
    limits: list[LimitState] = taken_from("limits", LimitState)
    """The limits in force."""


class AccountPage(View):
    """A part of the list of accounts, sorted by id."""

    items: list[ListedAccount] = taken_from(
        lambda page: [
            ListedAccount.of(account, limits=quota.windows) for account, quota in page.items
        ]
    )
    next_cursor: NextCursor = taken_from("next")


class OwnLimitValues(View):
    """The limits of an account that replace the plan's."""

    per_minute: OwnLimit
    per_day: OwnLimit
    per_month: OwnLimit
    recipients_per_day: OwnLimit


class OperatorLogItem(LogItem):
    """What was done to the account, as operators see it: with the operator's address."""

    by: str | None
    reason: str | None
    """Members of the account do not see it."""


class OperatedAccount(AccountDetail):
    """An account, as an operator sees it."""

    suspended_at: Timestamp | None = taken_from("suspension.at")
    """Null if it is not suspended."""
    suspension_reason: str | None = taken_from("suspension.reason")
    queued_mail: QueuedMail | None = taken_from("suspension.queued")
    """What happens to its emails that were accepted before; null if it is not suspended."""
    senders: list[str] = taken_from(lambda account: sorted(account.senders))
    contact: str | None
    """Where the service writes to its owner."""
    shards: int
    """Over how many partitions its emails are spread."""
    sharded_from: Timestamp | None
    """Since or from when on; null for one partition."""
    hold_uncertain: bool
    """Whether an email fails that SES may have sent; otherwise it is sent again."""
    isolation: Isolation
    """Whether SES pauses the account alone, and when."""
    tenant: str | None
    """Its tenant at SES."""
    own_limits: OwnLimitValues = taken_from("overrides")
    log: list[OperatorLogItem]
    """The last 50, the newest first."""


def operated_account(
    account: Account, quota: QuotaState, log: Iterable[LogEntry]
) -> dict[str, Any]:
    return OperatedAccount.of(account, log=log, **of_moment(account, quota))


class SendingRates(View):
    """The emails of a time range, and what became of them so far."""

    total_messages: int = taken_from("count")
    """Those that were accepted."""
    sent: int = taken_from(lambda counts: counts.reached[Status.SENT])
    """Those that were handed to Amazon SES."""
    delivered: int = taken_from(lambda counts: counts.reached[Status.DELIVERED])
    bounced: int = taken_from(lambda counts: counts.reached[Status.BOUNCED])
    """Permanent bounces only."""
    complained: int = taken_from(lambda counts: counts.reached[Status.COMPLAINED])
    unconfirmed: int | None
    """Those that are still `sent`, of the UTC days that ended a day ago: SES has reported no
    delivery and no bounce. Null if the range has no such day."""
    delivery_rate: Rate = taken_from(lambda counts: counts.rate(Status.DELIVERED))
    bounce_rate: Rate = taken_from(lambda counts: counts.rate(Status.BOUNCED))
    complaint_rate: Rate = taken_from(lambda counts: counts.rate(Status.COMPLAINED))


class RatedAccount(SendingRates, under="counts"):
    """What an account sent."""

    unconfirmed: int | None
    id: str = taken_from("account.account_id")
    name: str = taken_from("account.name")
    plan: Plan = taken_from("account.plan")
    suspended_at: Timestamp | None = taken_from("account.suspension.at")
    """Null if it is not suspended."""


class RatesResult(View):
    """What the accounts of the service sent. A bounce counts at the time of its email."""

    window_start: Timestamp
    window_end: Timestamp
    all_accounts: SendingRates
    total: int
    """How many accounts have what they are ranked by."""
    items: list[RatedAccount]
    """The first 100 of them."""


def rates_result(
    counted: Sequence[AccountCounts],
    by: RankBy,
    since: datetime,
    until: datetime,
    limit: int = _MAX_RANKED,
) -> dict[str, Any]:
    """Return what all accounts sent together, and at most so many with the most of something."""
    ranked = rank(counted, by)
    reached = sum((each.counts.reached for each in counted), Counter[Status]())
    together = MessageCounts(sum(each.counts.count for each in counted), reached)
    unconfirmed = [each.unconfirmed for each in counted if each.unconfirmed is not None]
    return RatesResult.of(
        window_start=since,
        window_end=until,
        all_accounts=SendingRates.of(
            together, unconfirmed=sum(unconfirmed) if unconfirmed else None
        ),
        total=len(ranked),
        items=ranked[:limit],
    )


class DeletionState(View):
    """How far the deletion of an account is."""

    id: str
    done: bool
    """If not, repeat the request: the deletion goes on."""
    items: int
    """How many records this request deleted."""


class QueueItem(View):
    """A queue of the service. The counts are approximate."""

    name: QueueName
    waiting: int
    in_flight: int
    """Those that a function works on or postponed."""
    delayed: int
    oldest_seconds: float | None
    """How long the oldest message has waited; null without a recent metric."""
    dead: int | None
    """Messages that failed too often; null if another queue has them, or none does."""


class RedriveItem(View):
    """A redrive of a queue, or a drop of one dead letter."""

    id: Uuid = taken_from("entry_id")
    at: Timestamp
    by: OperatorName
    queue: QueueName
    moved: int | None
    """How many dead letters; null if it has not ended, or has failed."""
    dropped: str | None
    """The id of the dead letter that was dropped, at SQS."""


class QueueList(View):
    """The queues of the service."""

    items: list[QueueItem]
    redrives: list[RedriveItem]
    """The last 50, the newest first."""


def queue_list(
    status: Mapping[str, tuple[QueueStatus, QueueStatus | None]],
    ages: Mapping[str, float | None],
    redrives: Iterable[Redrive],
) -> dict[str, Any]:
    items = [
        QueueItem.of(queue, name=name, oldest_seconds=ages[name], dead=dead and dead.waiting)
        for name, (queue, dead) in status.items()
    ]
    return QueueList.of(items=items, redrives=redrives)


class MovedLetters(View):
    """What a redrive did."""

    queue: QueueName
    moved: int
    """How many dead letters are in their queue again."""


class FindingItem(View):
    """One result of a check."""

    check: str
    verdict: Verdict
    message: str
    remedy: str | None = taken_from(lambda finding: finding.remedy or None)
    """Null if there is nothing to do."""


class CheckList(View):
    """What the checks found."""

    items: list[FindingItem]
