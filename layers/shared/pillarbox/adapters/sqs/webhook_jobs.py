"""The queue of webhook events to post and of endpoints to drain, and the form of its messages."""

import json
from collections.abc import Iterable
from datetime import timedelta
from math import ceil
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.sqs.batches import SqsQueue, send_all
from pillarbox.domain.timing import milliseconds, to_datetime
from pillarbox.domain.webhooks.endpoint import EndpointDrain, WebhookEvent, WebhookTask, WebhookType

_VERSION: Final = 1


class SqsWebhookQueue(SqsQueue):
    """Implements `webhooks.ports.WebhookQueue`."""

    def put_all(self, tasks: Iterable[WebhookTask], delay: timedelta = timedelta(0)) -> None:
        """Queue tasks in batches of ten, some of them at the same time."""
        seconds = ceil(delay.total_seconds())
        send_all(
            self._sqs,
            self._queue_url,
            (
                {
                    "Id": str(number),
                    "MessageBody": write_task(task),
                    "MessageGroupId": task.endpoint_id,
                    "DelaySeconds": seconds,
                }
                for number, task in enumerate(tasks)
            ),
        )

    def read(self, text: str) -> WebhookTask:
        """Read the task in a message of the queue.

        Raises:
            KeyError, TypeError, ValueError: it is not a task of a version that this worker knows.
        """
        return read_task(text)


def write_task(task: WebhookTask) -> str:
    """Write a task as JSON; moments are in milliseconds."""
    fields: dict[str, Any] = {
        "version": _VERSION,
        "account": task.account_id,
        "endpoint": task.endpoint_id,
    }
    if isinstance(task, EndpointDrain):
        fields["drain"] = milliseconds(task.lease) if task.lease else 0
    else:
        fields |= {
            "id": str(task.event_id),
            "type": task.type.value,
            "at": milliseconds(task.at),
            "attempts": task.attempts,
        }
        if task.message_id is not None:
            fields["message"] = str(task.message_id)
        if task.address is not None:
            fields["address"] = task.address
        if task.domain is not None:
            fields["domain"] = task.domain
        if task.pause is not None:
            fields["pause"] = task.pause
        if task.replayed_at is not None:
            fields["replayed"] = milliseconds(task.replayed_at)
    return json.dumps(fields, separators=(",", ":"))


def read_task(text: str) -> WebhookTask:
    """Read what `write_task` wrote.

    Raises:
        KeyError, TypeError, ValueError: it is not a task of a version that this worker knows.
    """
    fields = json.loads(text)
    if fields["version"] != _VERSION:
        raise ValueError("the task has another version")
    account_id, endpoint_id = fields["account"], fields["endpoint"]
    if "drain" in fields:
        lease = to_datetime(fields["drain"]) if fields["drain"] else None
        return EndpointDrain(account_id, endpoint_id, lease)
    return WebhookEvent(
        event_id=UUID(fields["id"]),
        type=WebhookType(fields["type"]),
        account_id=account_id,
        endpoint_id=endpoint_id,
        at=to_datetime(fields["at"]),
        message_id=UUID(fields["message"]) if "message" in fields else None,
        address=fields.get("address"),
        domain=fields.get("domain"),
        pause=fields.get("pause"),
        replayed_at=to_datetime(fields["replayed"]) if "replayed" in fields else None,
        attempts=fields["attempts"],
    )
