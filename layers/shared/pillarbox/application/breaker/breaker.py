"""Pause a template, a key or an account whose emails bounce or bring complaints too often.

The breaker is asked when the ledger has recorded such events, never while an email is accepted.
The narrowest scope comes first. What a stop of it contains is not held against its key and its
account, so that a form of a website that strangers abuse stops one template and not all mail. But
if three are stopped within a day, all that happened counts.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pillarbox.application.breaker.figures import NOTHING_CONTAINED, Contained, Figures
from pillarbox.application.history.ports import Ledger
from pillarbox.application.pause_alert import pause_alert
from pillarbox.application.pauses import Pauses
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.alert import Alert
from pillarbox.domain.accounts.pause import (
    Pause,
    PauseLevel,
    PauseScope,
    with_pause,
)
from pillarbox.domain.accounts.reputation import (
    LEAST_RECIPIENTS,
    BreakerMode,
    ReputationLimits,
)
from pillarbox.domain.messages.statistics import (
    END_OF_TIME,
    IndexEntry,
    Subset,
    SubsetKind,
)
from pillarbox.domain.timing import milliseconds, to_datetime

#: A pause ends by itself after this time, except a stop that follows another one within a month.
PAUSE_TIME: Final = timedelta(hours=24)
AGAIN: Final = timedelta(days=30)
#: Of so many narrower stops of a day each one contains its own events; of more, none does.
_CONTAINED: Final = 2
_SCOPES: Final = {SubsetKind.KEY: PauseScope.KEY, SubsetKind.TEMPLATE: PauseScope.TEMPLATE}
_KINDS: Final = {scope: kind for kind, scope in _SCOPES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """Judges accounts and their keys and templates. `mode` is not `OFF`."""

    ledger: Ledger
    pauses: Pauses
    limits: ReputationLimits
    mode: BreakerMode
    raise_alert: Callable[[str, Alert], None]
    clock: Clock

    def judge(self, account_id: str, entries: Iterable[IndexEntry]) -> int:
        """Judge what some recorded messages belong to; return how many brakes and stops are new.

        The call may be repeated. The alert comes first: if the record cannot be written, the
        repeated call raises the same one.

        Args:
            account_id: the account.
            entries: the entries that a batch of changes put into the ledger.

        Raises:
            ServiceError: `service_unavailable`.
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
        if at_worst is not None and not self.limits.may_warn(at_worst):
            return None, False
        counts = figures.exact(scope, since, contained)
        verdict = self.limits.verdict(counts)
        if verdict is None:
            return None, counts.sent < LEAST_RECIPIENTS
        level, cause = verdict
        pause = Pause(
            scope=kind,
            id=about,
            level=level if self.mode is BreakerMode.ACT else PauseLevel.WARN,
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
    """Return what is not held against a scope: what narrower scopes sent before their last stops.

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
