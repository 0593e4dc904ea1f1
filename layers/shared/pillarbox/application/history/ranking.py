"""Count what each account sends, and who causes the load or the trouble."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import batched
from typing import Final, Protocol

from pillarbox.application.account_lookup import AccountReader
from pillarbox.application.history.queries import Analytics, Bucket, MessageCounts
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.errors import FieldError, ValidationFailed
from pillarbox.domain.messages.message import Status
from pillarbox.domain.messages.statistics import Granularity
from pillarbox.domain.timing import milliseconds

#: After this time SES has reported on almost all emails.
_REPORTED: Final = timedelta(days=1)
#: Accounts to read before the progress is reported.
_BATCH: Final = 25


class RankBy(StrEnum):
    """What the accounts are ranked by."""

    VOLUME = "volume"
    BOUNCES = "bounces"
    COMPLAINTS = "complaints"


class CountQueries(Protocol):
    """Counts of the messages of an account."""

    def analytics(
        self, account_id: str, since: int, until: int, bucket: Bucket, shards: int | None = None
    ) -> Analytics:
        """Count the messages created in a window."""


@dataclass(frozen=True, slots=True)
class AccountCounts:
    """The messages that an account sent in a time range, and how many of these failed how."""

    account: Account
    counts: MessageCounts
    #: Those of UTC days that ended a day ago which are `sent`: SES said nothing more. None if the
    #: range has no such day.
    unconfirmed: int | None = None

    def number(self, by: RankBy) -> int:
        match by:
            case RankBy.VOLUME:
                return self.counts.count
            case RankBy.BOUNCES:
                return self.counts.reached[Status.BOUNCED]
            case RankBy.COMPLAINTS:
                return self.counts.reached[Status.COMPLAINED]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRates:
    """What the accounts of a stack send."""

    accounts: AccountReader
    queries: CountQueries
    clock: Clock
    for_each: Callable[
        [Callable[[Account], AccountCounts], Sequence[Account]], Iterable[AccountCounts]
    ]

    def counts(
        self, since: datetime, until: datetime, report: Callable[[int], None] = lambda _: None
    ) -> list[AccountCounts]:
        """Count the messages of each account created in a time range.

        `report` receives the number of accounts read so far.
        """
        if since >= until:
            raise ValidationFailed(FieldError("since", "must be before now", "out_of_range"))

        def count(account: Account) -> AccountCounts:
            window = (milliseconds(since), milliseconds(until))
            analytics = self.queries.analytics(
                account.account_id, *window, Bucket.DAY, account.shards
            )
            unconfirmed = _unconfirmed(analytics.volume, milliseconds(until - _REPORTED))
            return AccountCounts(account, analytics.total, unconfirmed)

        counted: list[AccountCounts] = []
        read = 0
        for batch in batched(self.accounts.all(), _BATCH, strict=False):
            counted += self.for_each(count, batch)
            read += len(batch)
            report(read)
        return counted


def _unconfirmed(volume: Mapping[int, MessageCounts], until: int) -> int | None:
    reported = [
        counts.by_status[Status.SENT]
        for day, counts in volume.items()
        if Granularity.DAY.end(day) <= until
    ]
    return sum(reported) if reported else None


def rank(counted: Iterable[AccountCounts], by: RankBy) -> list[AccountCounts]:
    """Return the accounts with any such messages: the most first, and of equals the worst rate."""
    return sorted(
        (each for each in counted if each.number(by)),
        key=lambda each: (
            -each.number(by),
            each.counts.reached[Status.SENT],
            each.account.account_id,
        ),
    )
