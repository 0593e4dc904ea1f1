"""The timer of webhooks: the tasks that wait for longer than a queue can hide them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.dynamodb.timer import Timer
from pillarbox.adapters.dynamodb.webhooks.deliveries import event_of
from pillarbox.adapters.webhook_events import EVENT
from pillarbox.domain.timing import milliseconds, to_datetime
from pillarbox.domain.webhooks.endpoint import DueTask, EndpointDrain, OwnerNotice, WebhookEvent

_DRAIN: Final = "drain"
_NOTICE: Final = "notice-"


class DynamoDueTimes(Timer[DueTask]):
    """Implements `webhooks.ports.DueTimes`."""

    def __init__(self, table: Table) -> None:
        super().__init__(table, "DUE", _name, _task_of, _attributes)


def _name(task: DueTask) -> str:
    match task:
        case WebhookEvent():
            end = task.delivery_id
        case OwnerNotice():
            end = f"{_NOTICE}{milliseconds(task.at)}"
        case EndpointDrain():
            end = _DRAIN
    return f"{task.account_id}#{task.endpoint_id}#{end}"


def _attributes(task: DueTask) -> Mapping[str, object]:
    return EVENT.write(task) | {"tried": task.attempts} if isinstance(task, WebhookEvent) else {}


def _task_of(item: Mapping[str, Any]) -> DueTask:
    account_id, endpoint_id, end = item["sk"].split("#")
    if end == _DRAIN:
        return EndpointDrain(account_id, endpoint_id)
    if end.startswith(_NOTICE):
        return OwnerNotice(account_id, endpoint_id, to_datetime(int(end.removeprefix(_NOTICE))))
    event = event_of({**item, "sk": end}, account_id, endpoint_id)
    return replace(event, attempts=item["tried"])
