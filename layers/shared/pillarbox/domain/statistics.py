"""What is counted of messages: an entry for each, and tallies of entries by hour, day and month.

Times here are milliseconds since 1970, as message ids hold them.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from pillarbox.domain.message import EventKind, Message, Status

_HOUR: Final = 3_600_000
_DAY: Final = 24 * _HOUR
_MONTHS: Final = 12
_EPOCH_YEAR: Final = 1970

#: What a message can come to, beyond being accepted.
REACHABLE: Final = (
    Status.SENT,
    Status.DELIVERED,
    Status.BOUNCED,
    Status.COMPLAINED,
    Status.FAILED,
)
_DELIVERED_BY: Final = {EventKind.COMPLAINED}
_SENT_BY: Final = {
    EventKind.BOUNCED_TRANSIENT,
    EventKind.DELIVERED,
    EventKind.BOUNCED,
    EventKind.COMPLAINED,
}


class Granularity(StrEnum):
    """How long a bucket of time is; buckets are aligned to UTC."""

    HOUR = "hour"
    DAY = "day"
    MONTH = "month"

    @property
    def finer(self) -> "Granularity | None":
        """The level of the buckets that one of this level is made of."""
        return {Granularity.MONTH: Granularity.DAY, Granularity.DAY: Granularity.HOUR}.get(self)

    def number(self, moment: int) -> int:
        """The number of the bucket that a moment is in, counted from 1970."""
        if self is Granularity.MONTH:
            at = datetime.fromtimestamp(moment / 1000, UTC)
            return (at.year - _EPOCH_YEAR) * _MONTHS + at.month - 1
        return moment // (_HOUR if self is Granularity.HOUR else _DAY)

    def first_moment(self, number: int) -> int:
        """Where the bucket of a number begins."""
        if self is Granularity.MONTH:
            year, month = divmod(number, _MONTHS)
            return round(datetime(_EPOCH_YEAR + year, month + 1, 1, tzinfo=UTC).timestamp() * 1000)
        return number * (_HOUR if self is Granularity.HOUR else _DAY)

    def start(self, moment: int) -> int:
        """Where the bucket of a moment begins."""
        return self.first_moment(self.number(moment))

    def end(self, moment: int) -> int:
        """Where the bucket of a moment ends: the next one's beginning."""
        return self.first_moment(self.number(moment) + 1)

    def ceiling(self, moment: int) -> int:
        """Where the first bucket begins that lies wholly at or after a moment."""
        start = self.start(moment)
        return moment if start == moment else self.end(moment)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What listing and counting need to know of a message, as of one revision of it."""

    message_id: UUID
    revision: int
    status: Status
    #: When the last thing happened, in milliseconds.
    updated: int
    #: The statuses of REACHABLE that it ever came to.
    reached: frozenset[Status] = frozenset()
    #: The code of what is wrong now, if its status is a failure.
    error: str | None = None

    @property
    def created(self) -> int:
        """When it was accepted, in milliseconds."""
        return self.message_id.int >> 80


def index_entry(message: Message) -> IndexEntry:
    """The entry of a message as it stands."""
    error = message.error
    return IndexEntry(
        message_id=message.message_id,
        revision=message.revision,
        status=message.status,
        updated=milliseconds(message.updated_at),
        reached=reached(message),
        error=(error.code or error.kind.value) if error else None,
    )


def reached(message: Message) -> frozenset[Status]:
    """The statuses that a message ever came to.

    Providers skip steps: a mail that was complained of had been delivered, and
    one that was delivered or bounced had been sent.
    """
    kinds = {event.kind for event in message.events}
    statuses = {kind.status for kind in kinds} & set(REACHABLE)
    if kinds & _DELIVERED_BY:
        statuses.add(Status.DELIVERED)
    if kinds & _SENT_BY:
        statuses.add(Status.SENT)
    return frozenset(statuses)


def milliseconds(moment: datetime) -> int:
    """A moment in milliseconds since 1970."""
    return round(moment.timestamp() * 1000)


@dataclass(slots=True)
class Rollup:
    """Counts of the messages that were created in one bucket of time."""

    #: (status, beginning of the bucket of the last update) -> messages.
    cells: Counter[tuple[Status, int]] = field(default_factory=Counter)
    #: Of each status of REACHABLE, the messages that ever came to it.
    reached: Counter[Status] = field(default_factory=Counter)
    #: Error code -> messages that have it now.
    errors: Counter[str] = field(default_factory=Counter)

    def count(self, statuses: Iterable[Status]) -> int:
        """The messages that have one of the statuses now."""
        wanted = frozenset(statuses)
        return sum(n for (status, _), n in self.cells.items() if status in wanted)

    @property
    def total(self) -> int:
        """All messages."""
        return self.cells.total()


def tally(level: Granularity, entries: Iterable[IndexEntry]) -> Rollup:
    """Count entries, their updates by buckets of a level."""
    result = Rollup()
    for entry in entries:
        result.cells[entry.status, level.start(entry.updated)] += 1
        result.reached.update(entry.reached)
        if entry.error is not None:
            result.errors[entry.error] += 1
    return result


def roll_up(level: Granularity, tallies: Iterable[Rollup]) -> Rollup:
    """Add tallies of finer buckets up to one of a level."""
    result = Rollup()
    for part in tallies:
        for (status, updated), n in part.cells.items():
            result.cells[status, level.start(updated)] += n
        result.reached.update(part.reached)
        result.errors.update(part.errors)
    return result
