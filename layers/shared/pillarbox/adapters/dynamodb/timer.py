"""A timer: items in buckets of one minute, and a note of the last minute that is over.

Passes read a minute until it is closed, so that they find what a slow call, or a clock that is
behind, puts into it late. What was found is removed, so no pass does it again. All reads are
eventually consistent, because nothing is put into a minute shortly before it is closed.

A minute may have more items than fit into memory, or than one pass can do. So it is read a few
pages at a time, and a pass ends after a while. It does not close that minute: the next one goes on.

The first item makes the note. So an unused timer costs half a read unit a minute.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import batched, chain, islice
from time import monotonic
from typing import Any, Final

from pillarbox.adapters.aws import in_parallel
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.table import (
    Item,
    Table,
    from_text,
    to_attribute,
    to_item,
    to_text,
    to_ttl,
)
from pillarbox.domain.timing import CLOCK_MARGIN, milliseconds

_MINUTE: Final = timedelta(minutes=1)
#: How far back the first pass looks after the note was made.
_FIRST_LOOK: Final = timedelta(minutes=10)
#: The most minutes of an outage that one pass makes up for.
_MINUTES_AT_A_TIME: Final = 600
#: The most items in one part.
_ITEMS: Final = 100
#: After this time an item is read again that could not be read: a newer version may know it.
_UNREADABLE_PAUSE: Final = timedelta(minutes=10)


class Timer[T]:
    """The items of one kind that wait for their minute.

    Args:
        kind: the kind of the items (`keys.TIMERS`).
        name: returns the sort key of an item.
        read: reads an item; KeyError, TypeError and ValueError mean that it cannot be read.
        kept: how long after its minute DynamoDB deletes an item that no pass has found.
        ahead: how long before their minute passes return the items.
        closed_after: how long after its beginning a minute is closed. An item is put a minute or
            more before its own, so what is late has a slow call or clock.
        at_most: after how long a pass ends. The timers share the time of one invocation.
    """

    def __init__(  # noqa: PLR0913  what differs between two timers
        self,
        table: Table,
        kind: str,
        name: Callable[[T], str],
        read: Callable[[Mapping[str, Any]], T],
        write: Callable[[T], Mapping[str, object]],
        *,
        kept: timedelta = timedelta(days=7),
        ahead: timedelta = timedelta(0),
        closed_after: timedelta = CLOCK_MARGIN + timedelta(seconds=90),
        at_most: timedelta = timedelta(seconds=10),
    ) -> None:
        self._table, self._kind = table, kind
        self._name, self._read, self._write = name, read, write
        self._kept, self._ahead, self._closed_after = kept, ahead, closed_after
        self._at_most = at_most.total_seconds()
        self._is_noted = False

    def put(self, item: T, due: datetime) -> None:
        self._put_all([(item, due)])

    def _put_all(self, items: Sequence[tuple[T, datetime]]) -> None:
        """Put items, each into the first minute that begins when it is due."""
        if not self._is_noted:
            self._table.put_new(keys.timer_note(self._kind))
            self._is_noted = True
        in_parallel(lambda item: self._table.put(self._item(*item)), items)

    def _item(self, item: T, due: datetime) -> Item:
        attributes = {**self._write(item), "expires_at": to_ttl(due + self._kept)}
        return timer_key(self._kind, due, self._name(item)) | to_item(attributes)

    def due(self, now: datetime) -> Iterator[tuple[datetime, Sequence[T]]]:
        """Return the items of the minutes since the note, in parts, and move the note.

        An item that cannot be read is put into a later minute, and its error comes after all other
        items: it must not stop the timer of every account.
        """
        errors: list[Exception] = []
        end = monotonic() + self._at_most
        closed, until = _start(now - self._closed_after), now + self._ahead
        noted = self._table.get(keys.timer_note(self._kind), consistent=False)
        if noted is None:
            return
        first = _start(now - _FIRST_LOOK)
        minute = from_text(noted["minute"]) if "minute" in noted else first
        for _ in range(_MINUTES_AT_A_TIME):
            minute += _MINUTE
            if minute > until or monotonic() > end:
                break
            buckets = in_parallel(
                lambda bucket, minute=minute: self._bucket(minute, bucket),  # type: ignore[misc]
                range(keys.TIMERS[self._kind]),
            )
            again = max(minute, closed) + _UNREADABLE_PAUSE
            for part in batched(self._readable(buckets, again, errors), _ITEMS, strict=False):
                yield minute, part
                if monotonic() > end:
                    break
            else:
                if minute <= closed:
                    note = keys.timer_note(self._kind)
                    self._table.put(note | to_item({"minute": to_text(minute)}))
        if errors:
            raise errors[0]

    def remove(self, minute: datetime, items: Iterable[T]) -> None:
        names = dict.fromkeys(map(self._name, items))
        self._table.write_all(
            deletes=[keys.timer_item(self._kind, _number(minute), name) for name in names]
        )

    def _bucket(self, minute: datetime, bucket: int) -> Iterator[dict[str, Any]]:
        """Read the first page of a bucket. Each further page is read when it is needed."""
        key = keys.timer_item(self._kind, _number(minute), bucket=bucket)
        items = iter(self._table.query(key, consistent=False))
        return chain([*islice(items, 1)], items)

    def _readable(
        self,
        buckets: Iterable[Iterator[Mapping[str, Any]]],
        again: datetime,
        errors: list[Exception],
    ) -> Iterator[T]:
        """Yield what can be read. Add the errors of the others, and put those into a minute."""
        for item in chain.from_iterable(buckets):
            try:
                yield self._read(item)
            except (KeyError, TypeError, ValueError) as error:
                errors.append(error)
                attributes = {name: item[name] for name in item.keys() - {"pk", "sk"}}
                later = keys.timer_item(self._kind, _number(again), item["sk"])
                self._table.put(later | to_item(attributes))
                self._table.delete({name: to_attribute(item[name]) for name in ("pk", "sk")})


def timer_key(kind: str, due: datetime, name: str) -> Item:
    """Return the key of an item in the first minute that begins when it is due."""
    return keys.timer_item(kind, -(-milliseconds(due) // 60_000), name)


def _start(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


def _number(minute: datetime) -> int:
    return milliseconds(minute) // 60_000
