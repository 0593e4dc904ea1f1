"""Judge bounces, complaints and volume of accounts: pause what goes too far, and warn owners.

The breaker is asked when the ledger has recorded such events, never while an email is accepted.
The narrowest scope comes first. What a stop of it contains does not count for its key and its
account, so that a form of a website that strangers abuse stops one template and not all mail. But
if three are stopped within a day, all that happened counts.

A window has the newest hour of the account's messages and the hours of the last day. If they went
to fewer than 500 recipients, it goes back until there are so many, for a month at most. Its hours
are whole, because the ledger has a rollup of each one. Only of the last hour that makes up the 500
it has a part: the hour's figures in proportion, rounded down. A wider window begins when the oldest
email was accepted that is judged: scheduled ones bounce long after that.

That is a new program, a mistake, or somebody who has stolen the key. Nothing is refused.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from threading import Lock
from typing import Final
from uuid import UUID

from pillarbox.application.history.ports import Ledger
from pillarbox.application.pause_alert import pause_alert
from pillarbox.application.pauses import Pauses
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.alert import Alert, AlertKind
from pillarbox.domain.accounts.pause import Pause, PauseLevel, PauseScope, with_pause
from pillarbox.domain.accounts.reputation import (
    LEAST_RECIPIENTS,
    may_warn,
    verdict_on,
)
from pillarbox.domain.messages.message import Status
from pillarbox.domain.messages.statistics import (
    END_OF_TIME,
    NO_RECIPIENTS,
    Granularity,
    IndexEntry,
    RecipientCounts,
    Rollup,
    Subset,
    SubsetKind,
    TimeRange,
)
from pillarbox.domain.timing import milliseconds, to_datetime

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
    if counts.sent <= recipients:
        return counts
    return RecipientCounts(
        recipients,
        counts.bounced * recipients // counts.sent,
        counts.complained * recipients // counts.sent,
    )


def _sum(counts: Iterable[RecipientCounts]) -> RecipientCounts:
    return sum(counts, NO_RECIPIENTS)


#: A pause ends by itself after this time, except a stop that follows another one within a month.
PAUSE_TIME: Final = timedelta(hours=24)
AGAIN: Final = timedelta(days=30)
#: Of so many narrower stops of a day each one contains its own events; of more, none does.
_CONTAINED: Final = 2
_SCOPES: Final = {SubsetKind.KEY: PauseScope.KEY, SubsetKind.TEMPLATE: PauseScope.TEMPLATE}
_KINDS: Final = {scope: kind for kind, scope in _SCOPES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """Judges accounts and their keys and templates."""

    ledger: Ledger
    pauses: Pauses
    #: Without it too many bounces or complaints warn the owners, and nothing is refused.
    may_pause: bool
    raise_alert: Callable[[str, Alert], None]
    clock: Clock

    def judge(self, account_id: str, entries: Iterable[IndexEntry]) -> int:
        """Judge what some recorded messages belong to; return how many brakes and stops are new.

        The call may be repeated. The alert comes first: if the record cannot be written, the
        repeated call raises the same one.
        """
        bad = [one for one in entries if one.recipients.bounced or one.recipients.complained]
        account = self.pauses.records.get(account_id) if bad else None
        if account is None:  # the account of the service's own emails has no record
            return 0
        now, new, unjudged = self.clock(), list[Pause](), list[Subset]()
        at = min(now, to_datetime(max(entry.updated for entry in bad)))
        figures = Figures(self.ledger, account_id, now)
        wider = figures.reaching(min(entry.created for entry in bad))
        for scope in _scopes(bad):
            pause, is_small = self._judge_scope(account, scope, figures, unjudged, now)
            if pause is None and wider is not None:
                pause, is_small = self._judge_scope(account, scope, wider, unjudged, now)
            if pause is not None:
                new.append(pause)
                account = replace(account, pauses=with_pause(account.pauses, pause))
            elif scope is not None and is_small:
                unjudged.append(scope)
        if new:
            self.raise_alert(account_id, pause_alert(new, at))
            self.pauses.change(account_id, lambda stored: _with_stricter(stored, new, now))
        return sum(pause.level is not PauseLevel.WARN for pause in new)

    def _judge_scope(
        self,
        account: Account,
        scope: Subset | None,
        figures: Figures,
        unjudged: Sequence[Subset],
        now: datetime,
    ) -> tuple[Pause | None, bool]:
        """Return the pause that a scope gets, and whether it has too few recipients for one.

        It gets none if it has one that is as strict. `unjudged` are narrower scopes with too few
        recipients.
        """
        kind, about = (_SCOPES[scope.kind], scope.id) if scope else (PauseScope.ACCOUNT, "")
        stored = next((p for p in account.pauses if p.key == (kind, about, False)), None)
        since = stored.counts_since(now) if stored else None
        contained = {**_contained(account.pauses, kind, now), **_too_few(unjudged, scope)}
        at_worst = None if contained else figures.at_worst(scope, since)
        if at_worst is not None and not may_warn(at_worst):
            return None, False
        counts = figures.exact(scope, since, contained)
        verdict = verdict_on(counts)
        if verdict is None:
            return None, counts.sent < LEAST_RECIPIENTS
        level, cause = verdict
        pause = Pause(
            scope=kind,
            id=about,
            level=level if self.may_pause else PauseLevel.WARN,
            cause=cause,
            since=now,
            until=now + PAUSE_TIME,
        )
        if stored is not None and _is_as_strict(stored, pause, now):
            return None, False
        return (_following(stored, pause, since) if stored else pause), False


def _scopes(entries: Iterable[IndexEntry]) -> list[Subset | None]:
    """Return what some messages belong to: templates, then keys, then the account."""
    subsets = {subset for entry in entries for subset in entry.subsets}
    narrowest_first = sorted(subsets, key=lambda one: (one.kind is SubsetKind.KEY, one.id))
    return [*narrowest_first, None]


def _contained(pauses: Iterable[Pause], kind: PauseScope, now: datetime) -> Contained:
    """Return what does not count for a scope: what narrower scopes sent before their last stops.

    What they send afterwards counts like everything else: codes, and what follows a stop's end.
    """
    narrower = {
        PauseScope.TEMPLATE: set[PauseScope](),
        PauseScope.KEY: {PauseScope.TEMPLATE},
        PauseScope.ACCOUNT: {PauseScope.TEMPLATE, PauseScope.KEY},
    }[kind]
    stops = {
        Subset(_KINDS[pause.scope], pause.id): stop
        for pause in pauses
        if pause.scope in narrower and (stop := pause.last_stop) and now - stop < AGAIN
    }
    if sum(now - stop < PAUSE_TIME for stop in stops.values()) > _CONTAINED:
        return NOTHING_CONTAINED
    return {subset: milliseconds(stop) + 1 for subset, stop in stops.items()}


def _too_few(unjudged: Sequence[Subset], scope: Subset | None) -> Contained:
    """Return narrower scopes that alone may have caused what happens, and cannot be judged yet.

    So a template comes before its key, though the key has more recipients.
    """
    narrower = [one for one in unjudged if scope is None or one.kind is not scope.kind]
    if len(narrower) > _CONTAINED:
        return NOTHING_CONTAINED
    return dict.fromkeys(narrower, END_OF_TIME)


def _is_as_strict(stored: Pause, pause: Pause, now: datetime) -> bool:
    return stored.is_current(now) and stored.level.rank >= pause.level.rank


def _following(stored: Pause, pause: Pause, since: datetime | None) -> Pause:
    """Return a pause of a scope that had one before."""
    stopped_before = stored.last_stop
    again = stopped_before is not None and pause.since - stopped_before < AGAIN
    ends_by_itself = pause.level is not PauseLevel.STOP or not again
    return replace(
        pause,
        until=pause.until if ends_by_itself else None,
        counts_from=since,
        stopped_before=stopped_before,
        owner_resumed=stored.owner_resumed,
    )


def _with_stricter(account: Account, new: Iterable[Pause], now: datetime) -> Iterable[Pause]:
    """Return an account's pauses with new ones, except where another judgement was as strict."""
    pauses = account.pauses
    for pause in new:
        stored = next((one for one in pauses if one.key == pause.key), None)
        if stored is None or not _is_as_strict(stored, pause, now):
            pauses = with_pause(pauses, pause)
    return pauses


#: The least emails of an hour that may be unusual.
LEAST_MESSAGES: Final = 100
#: So many times the most of any hour of the week before are.
UNUSUAL: Final = 10
_WEEK: Final = 7 * 24 * 3_600_000
#: The keys of the present hour that a process counts.
_MAX_KEYS: Final = 10_000
#: The messages by which a process knows that a batch is repeated: those of ten full batches.
_MAX_MESSAGES: Final = 20_000

_USUAL: Final = "In the week before it never sent a tenth of that in an hour."
_STOLEN: Final = (
    "If not, somebody may have your key: make a new one in the dashboard, use it, and revoke the"
    " old one. A revoked key stops working at once."
)
_TITLE: Final = "An API key sends far more than usual"


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeWatch:
    """Counts the messages of keys in this process, and compares large counts with the ledger.

    A count is that of one process and may be too low. It is compared when it reaches 100, 200,
    400 and so on, so that a busy key costs a few reads an hour.
    """

    ledger: Ledger
    raise_alert: Callable[[str, Alert], None]
    clock: Clock
    _counts: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    #: The newest messages that were counted, the oldest of them first.
    _counted: dict[UUID, None] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def watch(self, account_id: str, entries: Iterable[IndexEntry]) -> None:
        """Count new messages of an account, and tell its owners of what is unusual, once a day.

        A message counts once, however often its batch comes, and only after the owners were told.
        Batches of one account must not come at the same time.
        """
        new: defaultdict[tuple[str, int], set[UUID]] = defaultdict(set)
        for entry in entries:
            is_new = entry.revision == 0 and entry.message_id not in self._counted
            if is_new and entry.key_id is not None:
                new[entry.key_id, Granularity.HOUR.start(entry.created)].add(entry.message_id)
        for (key_id, hour), messages in new.items():
            before = self._counts[account_id, key_id, hour]
            total = before + len(messages)
            if _reaches_step(before, total) and self._is_unusual(account_id, key_id, hour, total):
                self._tell(account_id, key_id, total)
            self._count(account_id, key_id, hour, messages)

    def _count(self, account_id: str, key_id: str, hour: int, messages: Collection[UUID]) -> None:
        with self._lock:
            if len(self._counts) >= _MAX_KEYS:
                self._counts.clear()
            self._counts[account_id, key_id, hour] += len(messages)
            self._counted.update(dict.fromkeys(messages))
            for oldest in [*islice(self._counted, max(len(self._counted) - _MAX_MESSAGES, 0))]:
                del self._counted[oldest]

    def _is_unusual(self, account_id: str, key_id: str, hour: int, count: int) -> bool:
        week, subset = TimeRange(hour - _WEEK, hour), Subset(SubsetKind.KEY, key_id)
        hours = self.ledger.rollups(account_id, Granularity.HOUR, week, subset)
        return count > UNUSUAL * max((rollup.total for rollup in hours), default=0)

    def _tell(self, account_id: str, key_id: str, count: int) -> None:
        now = milliseconds(self.clock())
        day = to_datetime(Granularity.DAY.start(now))
        seen = f"The key {key_id} has sent at least {count} emails within an hour."
        texts = (f"{seen} {_USUAL}", "If you expect this, you need not do anything.", _STOLEN)
        alert = Alert(
            kind=AlertKind.VOLUME,
            name=key_id,
            at=day,
            title=_TITLE,
            paragraphs=texts,
            about=f"API key: {key_id}",
        )
        self.raise_alert(account_id, alert)


def _reaches_step(before: int, after: int) -> bool:
    """Return whether a count has passed 100, 200, 400 and so on."""
    step = LEAST_MESSAGES
    while step <= before:
        step *= 2
    return step <= after
