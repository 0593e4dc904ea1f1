"""The JSON of each response to operators, as `replies.py` writes it.

The OpenAPI document is made from these types, and no function loads them.
"""

from typing import Annotated, TypedDict

from pydantic import Field

from pillarbox.application.operator.checks import Verdict
from pillarbox.domain.accounts.account import Plan
from pillarbox.http.accounts.reply_types import AccountDetail, LogItem
from pillarbox.http.messages.reply_types import LimitState, NextCursor, Rate, Timestamp, Uuid

type QueueName = Annotated[
    str, Field(description="`jobs`, `urgent`, `events`, `sweep` or `webhooks`.")
]
type OperatorName = Annotated[
    str, Field(description="The operator's address, or `operator` for the command.")
]
type OwnLimit = Annotated[int | None, Field(description="Null for the plan's limit.")]


class ListedAccount(TypedDict):
    """An account of the service."""

    id: Annotated[str, Field(pattern="^[0-9a-z]{12}$")]
    name: str
    plan: Plan
    createdAt: Timestamp
    suspendedAt: Annotated[Timestamp | None, Field(description="Null if it is not suspended.")]
    limits: Annotated[list[LimitState], Field(description="The limits in force.")]


class AccountPage(TypedDict):
    """A part of the list of accounts, sorted by id."""

    items: list[ListedAccount]
    nextCursor: NextCursor


class OwnLimitValues(TypedDict):
    """The limits of an account that replace the plan's."""

    perMinute: OwnLimit
    perDay: OwnLimit
    perMonth: OwnLimit
    recipientsPerDay: OwnLimit


class OperatorLogItem(LogItem):
    """What was done to the account, as operators see it: with the operator's address."""

    reason: Annotated[str | None, Field(description="Members of the account do not see it.")]


class OperatedAccount(AccountDetail, TypedDict):
    """An account, as an operator sees it."""

    suspendedAt: Annotated[Timestamp | None, Field(description="Null if it is not suspended.")]
    suspensionReason: str | None
    contact: Annotated[str | None, Field(description="Where the service writes to its owner.")]
    shards: Annotated[int, Field(description="Over how many partitions its emails are spread.")]
    ownLimits: OwnLimitValues
    log: Annotated[list[OperatorLogItem], Field(description="The last 50, the newest first.")]


class SendingRates(TypedDict):
    """The emails of a time range, and what became of them so far."""

    totalMessages: Annotated[int, Field(description="Those that were accepted.")]
    sent: Annotated[int, Field(description="Those that were handed to Amazon SES.")]
    delivered: int
    bounced: Annotated[int, Field(description="Permanent bounces only.")]
    complained: int
    unconfirmed: Annotated[
        int | None,
        Field(
            description="Those that are still `sent`, of the UTC days that ended a day ago: SES has"
            " reported no delivery and no bounce. Null if the range has no such day."
        ),
    ]
    deliveryRate: Rate
    bounceRate: Rate
    complaintRate: Rate


class RatedAccount(SendingRates):
    """What an account sent."""

    id: str
    name: str
    plan: Plan
    suspendedAt: Annotated[Timestamp | None, Field(description="Null if it is not suspended.")]


class RatesResult(TypedDict):
    """What the accounts of the service sent. A bounce counts at the time of its email."""

    windowStart: Timestamp
    windowEnd: Timestamp
    allAccounts: SendingRates
    total: Annotated[int, Field(description="How many accounts have what they are ranked by.")]
    items: Annotated[list[RatedAccount], Field(description="The first 100 of them.")]


class DeletionState(TypedDict):
    """How far the deletion of an account is."""

    id: str
    done: Annotated[bool, Field(description="If not, repeat the request: the deletion goes on.")]
    items: Annotated[int, Field(description="How many records this request deleted.")]


class QueueItem(TypedDict):
    """A queue of the service. The counts are approximate."""

    name: QueueName
    waiting: int
    inFlight: Annotated[int, Field(description="Those that a function works on or postponed.")]
    delayed: int
    oldestSeconds: Annotated[
        float | None,
        Field(description="How long the oldest message has waited; null without a recent metric."),
    ]
    dead: Annotated[
        int | None,
        Field(description="Messages that failed too often; null if another queue has them."),
    ]


class RedriveItem(TypedDict):
    """A redrive of a queue, or a drop of one dead letter."""

    id: Uuid
    at: Timestamp
    by: OperatorName
    queue: QueueName
    moved: Annotated[
        int | None,
        Field(description="How many dead letters; null if it has not ended, or has failed."),
    ]
    dropped: Annotated[
        str | None, Field(description="The id of the dead letter that was dropped, at SQS.")
    ]


class QueueList(TypedDict):
    """The queues of the service."""

    items: list[QueueItem]
    redrives: Annotated[list[RedriveItem], Field(description="The last 50, the newest first.")]


class MovedLetters(TypedDict):
    """What a redrive did."""

    queue: QueueName
    moved: Annotated[int, Field(description="How many dead letters are in their queue again.")]


class FindingItem(TypedDict):
    """One result of a check."""

    check: str
    verdict: Verdict
    message: str
    remedy: Annotated[str | None, Field(description="Null if there is nothing to do.")]


class CheckList(TypedDict):
    """What the checks found."""

    items: list[FindingItem]
