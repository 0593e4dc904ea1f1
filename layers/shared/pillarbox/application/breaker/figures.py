"""The figures that the breaker judges: recipients, permanent bounces and complaints of a window.

A window has the newest hour of the account's messages and the hours of the last day. If they went
to fewer than 500 recipients, it goes back until there are so many, for a month at most. Its hours
are whole, because the ledger has a rollup of each one. Only of the last hour that makes up the 500
it has a part: the hour's figures in proportion, rounded down. A wider window begins when the oldest
email was accepted that is judged: scheduled ones bounce long after that.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from pillarbox.application.history.ports import Ledger
from pillarbox.domain.messages.message import Status
from pillarbox.domain.messages.recipient_counts import NO_RECIPIENTS, RecipientCounts
from pillarbox.domain.messages.statistics import (
    END_OF_TIME,
    Granularity,
    IndexEntry,
    Rollup,
    Subset,
    SubsetKind,
    TimeRange,
)
from pillarbox.domain.timing import milliseconds

#: What a window has at least, if there is so much.
WINDOW_RECIPIENTS: Final = 500
WINDOW_TIME: Final = timedelta(hours=24)
#: It goes back beyond that by so many days at a time, which makes a month.
_STEPS: Final = (2, 7, 20)
_MONTH: Final = timedelta(days=30)

_HOUR: Final = Granularity.HOUR
_TEN_SECONDS: Final = Granularity.TEN_SECONDS
_DAY: Final = 24 * 3_600_000

#: Narrower scopes, whose messages from before a moment are left out.
type Contained = Mapping[Subset, int]
NOTHING_CONTAINED: Final[Contained] = {}


class _LeftOut:
    """The figures of narrower scopes. A message may belong to one key and one template of them."""

    def __init__(self) -> None:
        self._by_kind = dict.fromkeys(SubsetKind, NO_RECIPIENTS)

    def add(self, subset: Subset, counts: RecipientCounts) -> None:
        self._by_kind[subset.kind] += counts

    def taken_from(self, counts: RecipientCounts) -> RecipientCounts:
        """Return figures without these: of keys or of templates, whichever are more."""
        kinds = self._by_kind.values()
        return RecipientCounts(
            max(counts.sent - max(one.sent for one in kinds), 0),
            max(counts.bounced - max(one.bounced for one in kinds), 0),
            max(counts.complained - max(one.complained for one in kinds), 0),
        )


class Figures:
    """Reads windows of one account, at one moment.

    A scope is a key or a template; None is the account. If only messages from a moment on count,
    `since` says so.
    """

    def __init__(
        self, ledger: Ledger, account_id: str, now: datetime, oldest: int | None = None
    ) -> None:
        """Store what to read.

        Args:
            ledger: the figures.
            account_id: the account.
            now: the time.
            oldest: when the oldest message of a wider window was created, in milliseconds.
        """
        self._ledger = ledger
        self._account_id = account_id
        self._now = now
        start = milliseconds(now - WINDOW_TIME)
        if oldest is not None:
            start = max(min(oldest, start), milliseconds(now - _MONTH))
        self._start = _HOUR.start(start)
        self._entries: dict[TimeRange, list[IndexEntry]] = {}

    def at_worst(self, scope: Subset | None, since: datetime | None) -> RecipientCounts | None:
        """Return figures whose rates are at least those of `exact`, and which cost less.

        The newest hour may have very many messages. Only those of it are read that bounced or
        brought complaints. None if the window goes back beyond a day.
        """
        first = _first(since)
        bad = _sum(e.recipients for e in self._bad if e.is_in(scope) and e.created >= first)
        newest = RecipientCounts(max(bad.bounced, bad.complained), bad.bounced, bad.complained)
        hours = TimeRange(max(self._start, _HOUR.ceiling(first)), self._newest_hour)
        counts = newest + _sum(self._hours(scope, hours, NOTHING_CONTAINED))
        return counts if counts.sent >= WINDOW_RECIPIENTS else None

    def exact(
        self, scope: Subset | None, since: datetime | None, without: Contained = NOTHING_CONTAINED
    ) -> RecipientCounts:
        """Return the figures of a window, without messages that narrower stops contain."""
        first = _first(since)
        parts = [TimeRange(max(first, self._newest_hour), END_OF_TIME)]
        if self._start < first < self._newest_hour:
            parts.append(TimeRange(first, _HOUR.ceiling(first)))
        hours = TimeRange(max(self._start, _HOUR.ceiling(first)), self._newest_hour)
        counts = _sum(self._part_without(scope, part, without) for part in parts)
        counts += _sum(self._hours(scope, hours, without))
        until = min(self._start, self._newest_hour)
        for days in _STEPS:
            if counts.sent >= WINDOW_RECIPIENTS:
                break
            hours = TimeRange(max(until - days * _DAY, _HOUR.ceiling(first)), until)
            for hour in self._hours(scope, hours, without):
                missing = WINDOW_RECIPIENTS - counts.sent
                if missing > 0:
                    counts += _share(hour, missing)
            until = hours.since
        return counts

    def _hours(
        self, scope: Subset | None, hours: TimeRange, without: Contained
    ) -> list[RecipientCounts]:
        """Return the figures of whole hours, newest first."""
        left_out: defaultdict[int, _LeftOut] = defaultdict(_LeftOut)
        for subset, until in without.items():
            starts = TimeRange(hours.since, min(hours.until, until))
            for rollup in self._rollups(_HOUR, starts, subset):
                part = TimeRange(rollup.start, min(until, _HOUR.end(rollup.start)))
                is_whole = part == rollup.created
                counts = rollup.recipients if is_whole else self._part(subset, part)
                left_out[rollup.start].add(subset, counts)
        return [
            left_out[rollup.start].taken_from(rollup.recipients)
            for rollup in self._rollups(_HOUR, hours, scope)
        ]

    def _part_without(
        self, scope: Subset | None, part: TimeRange, without: Contained
    ) -> RecipientCounts:
        left_out = _LeftOut()
        for subset, until in without.items():
            before = TimeRange(part.since, min(part.until, until))
            left_out.add(subset, self._part(subset, before))
        return left_out.taken_from(self._part(scope, part))

    def _part(self, scope: Subset | None, part: TimeRange) -> RecipientCounts:
        """Count the messages of a part of an hour.

        Those of shards have rollups of ten seconds, so that they need not be read one by one. Of
        them only whole ten seconds count.
        """
        widened = TimeRange(_TEN_SECONDS.start(part.since), part.until)
        if self._rollups(_TEN_SECONDS, widened, None):
            return _sum(one.recipients for one in self._rollups(_TEN_SECONDS, part, scope))
        if part not in self._entries:
            self._entries[part] = self._ledger.entries_created(self._account_id, part)
        return _sum(entry.recipients for entry in self._entries[part] if entry.is_in(scope))

    def _rollups(
        self, granularity: Granularity, starts: TimeRange, scope: Subset | None
    ) -> list[Rollup]:
        """Read rollups, newest first."""
        if starts.is_empty:
            return []
        rollups = self._ledger.rollups(self._account_id, granularity, starts, scope)
        return sorted(rollups, key=lambda rollup: rollup.start, reverse=True)

    @cached_property
    def _newest_hour(self) -> int:
        newest = self._ledger.newest_entry_time(self._account_id)
        return _HOUR.start(milliseconds(self._now) if newest is None else newest)

    def reaching(self, oldest: int) -> "Figures | None":
        """Return those of the wider window; None if this one has the oldest message."""
        is_in = oldest >= self._start
        return None if is_in else Figures(self._ledger, self._account_id, self._now, oldest)

    @cached_property
    def _bad(self) -> list[IndexEntry]:
        """Read the messages of the newest hour that bounced or brought a complaint."""
        rest = TimeRange(self._newest_hour, END_OF_TIME)
        return [
            entry
            for status in (Status.BOUNCED, Status.COMPLAINED)
            for entry in self._ledger.entries_updated(self._account_id, status, rest, rest)
        ]


def _first(since: datetime | None) -> int:
    return 0 if since is None else milliseconds(since)


def _share(counts: RecipientCounts, recipients: int) -> RecipientCounts:
    """Return the figures of some of the recipients."""
    if counts.sent <= recipients:
        return counts
    return RecipientCounts(
        recipients,
        counts.bounced * recipients // counts.sent,
        counts.complained * recipients // counts.sent,
    )


def _sum(counts: Iterable[RecipientCounts]) -> RecipientCounts:
    return sum(counts, NO_RECIPIENTS)
