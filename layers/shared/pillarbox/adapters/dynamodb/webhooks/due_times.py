"""The timer: tasks in buckets of one minute, and the note of the last minute that is over."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import batched
from typing import Any, Final

from pillarbox.adapters.aws import in_parallel
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import (
    from_text,
    to_item,
    to_text,
    to_ttl,
)
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.dynamodb.webhooks.deliveries import event_attributes, event_of
from pillarbox.domain.timing import milliseconds, to_datetime
from pillarbox.domain.webhooks.endpoint import DueTask, EndpointDrain, OwnerNotice, WebhookEvent

_MINUTE: Final = timedelta(minutes=1)
#: How far back the first pass looks; the timer runs since before there were tasks.
_FIRST_LOOK: Final = timedelta(minutes=10)
#: The most minutes of an outage that one pass makes up for.
_MINUTES_AT_A_TIME: Final = 120
#: The most tasks in one part.
_TASKS: Final = 100
#: DynamoDB deletes a task that no pass has queued by then.
_KEPT: Final = timedelta(days=7)
_DRAIN: Final = "drain"
_NOTICE: Final = "notice-"


class DynamoDueTimes:
    """Implements `webhooks.ports.DueTimes`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(self, task: DueTask, due: datetime) -> None:
        """Put the task into the first minute that begins when it is due."""
        minute = -(-milliseconds(due) // 60_000)
        attributes: dict[str, object] = {}
        if isinstance(task, WebhookEvent):
            attributes = event_attributes(task) | {"tried": task.attempts}
        self._table.put(
            keys.due_task(minute, _name(task))
            | to_item(attributes | {"expires_at": to_ttl(due + _KEPT)})
        )

    def due(self, now: datetime) -> Iterator[tuple[datetime, Sequence[DueTask]]]:
        """Read the buckets of the minutes since the note, and move the note.

        A task that cannot be read stays in the table, and its error comes after all other tasks:
        it must not stop the timer of every account.
        """
        errors: list[Exception] = []
        noted = self._table.get(keys.due_minute())
        last = from_text(noted["minute"]) if noted else _start(now - _FIRST_LOOK)
        for _ in range(_MINUTES_AT_A_TIME):
            minute = last + _MINUTE
            if minute > now:
                break
            for items in in_parallel(
                lambda bucket, minute=minute: self._bucket(minute, bucket),  # type: ignore[misc]
                range(keys.DUE_BUCKETS),
            ):
                for part in batched(_readable(items, errors), _TASKS, strict=False):
                    yield minute, part
            self._table.put(keys.due_minute() | to_item({"minute": to_text(minute)}))
            last = minute
        if errors:
            raise errors[0]

    def _bucket(self, minute: datetime, bucket: int) -> list[dict[str, Any]]:
        return [*self._table.query(keys.due_task(_number(minute), bucket=bucket))]

    def remove(self, minute: datetime, tasks: Sequence[DueTask]) -> None:
        """Delete the tasks; they may be absent."""
        task_keys = [keys.due_task(_number(minute), _name(task)) for task in tasks]
        in_parallel(self._table.delete, task_keys)


def _start(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


def _number(minute: datetime) -> int:
    return milliseconds(minute) // 60_000


def _name(task: DueTask) -> str:
    match task:
        case WebhookEvent():
            end = task.delivery_id
        case OwnerNotice():
            end = f"{_NOTICE}{milliseconds(task.at)}"
        case EndpointDrain():
            end = _DRAIN
    return f"{task.account_id}#{task.endpoint_id}#{end}"


def _readable(items: Iterable[Mapping[str, Any]], errors: list[Exception]) -> Iterator[DueTask]:
    """Yield the tasks in items; add the errors of the others."""
    for item in items:
        try:
            yield _task_of(item)
        except (KeyError, TypeError, ValueError) as error:
            errors.append(error)


def _task_of(item: Mapping[str, Any]) -> DueTask:
    account_id, endpoint_id, end = item["sk"].split("#")
    if end == _DRAIN:
        return EndpointDrain(account_id, endpoint_id)
    if end.startswith(_NOTICE):
        return OwnerNotice(account_id, endpoint_id, to_datetime(int(end.removeprefix(_NOTICE))))
    event = event_of({**item, "sk": end}, account_id, endpoint_id)
    return replace(event, attempts=item["tried"])
