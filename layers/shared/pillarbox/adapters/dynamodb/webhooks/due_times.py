"""The timer of webhooks: the tasks that wait for longer than a queue can hide them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.dynamodb.timer import Timer
from pillarbox.adapters.dynamodb.webhooks.deliveries import event_attributes, event_of
from pillarbox.domain.timing import CLOCK_MARGIN, milliseconds, to_datetime
from pillarbox.domain.webhooks.endpoint import DueTask, EndpointDrain, OwnerNotice, WebhookEvent

#: DynamoDB deletes a task that no pass has queued by then.
_KEPT: Final = timedelta(days=7)
#: A task is put a minute or more before its own, so what is late has a slow call or clock.
_CLOSED_AFTER: Final = CLOCK_MARGIN + timedelta(seconds=90)
_DRAIN: Final = "drain"
_NOTICE: Final = "notice-"


class DynamoDueTimes:
    """Implements `webhooks.ports.DueTimes`."""

    def __init__(self, table: Table) -> None:
        self._timer = Timer(
            table,
            "DUE",
            _task_of,
            kept=_KEPT,
            ahead=timedelta(0),
            closed_after=_CLOSED_AFTER,
            at_most=timedelta(seconds=10),
        )

    def put(self, task: DueTask, due: datetime) -> None:
        """Put the task into the first minute that begins when it is due."""
        attributes: dict[str, object] = {}
        if isinstance(task, WebhookEvent):
            attributes = event_attributes(task) | {"tried": task.attempts}
        self._timer.put_all([(due, _name(task), attributes)])

    def due(self, now: datetime) -> Iterable[tuple[datetime, Sequence[DueTask]]]:
        """Read the tasks of each minute that is not over."""
        return self._timer.due(now)

    def remove(self, minute: datetime, tasks: Sequence[DueTask]) -> None:
        """Delete the tasks; they may be absent."""
        self._timer.remove([(minute, _name(task)) for task in tasks])


def _name(task: DueTask) -> str:
    match task:
        case WebhookEvent():
            end = task.delivery_id
        case OwnerNotice():
            end = f"{_NOTICE}{milliseconds(task.at)}"
        case EndpointDrain():
            end = _DRAIN
    return f"{task.account_id}#{task.endpoint_id}#{end}"


def _task_of(item: Mapping[str, Any]) -> DueTask:
    account_id, endpoint_id, end = item["sk"].split("#")
    if end == _DRAIN:
        return EndpointDrain(account_id, endpoint_id)
    if end.startswith(_NOTICE):
        return OwnerNotice(account_id, endpoint_id, to_datetime(int(end.removeprefix(_NOTICE))))
    event = event_of({**item, "sk": end}, account_id, endpoint_id)
    return replace(event, attempts=item["tried"])
