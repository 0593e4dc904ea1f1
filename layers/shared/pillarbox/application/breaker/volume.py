"""Warn the owners of an account when one of its keys sends far more than usual.

That is a new program, a mistake, or somebody who has stolen the key. Nothing is refused.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import Final
from uuid import UUID

from pillarbox.application.history.ports import Ledger
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.alert import Alert, AlertKind
from pillarbox.domain.messages.statistics import (
    Granularity,
    IndexEntry,
    Subset,
    SubsetKind,
    TimeRange,
)
from pillarbox.domain.timing import milliseconds, to_datetime

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

        Raises:
            ServiceError: `service_unavailable`.
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
