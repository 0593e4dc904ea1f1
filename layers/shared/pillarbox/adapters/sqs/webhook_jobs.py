"""The queue of what is posted to the addresses of tenants, and the form of its messages.

That is webhook events, endpoints to drain, and alerts for chats.
"""

import json
from collections.abc import Iterable
from datetime import timedelta
from math import ceil
from typing import Any, Final
from uuid import UUID

from pillarbox.adapters.sqs.batches import SqsQueue, send_all
from pillarbox.adapters.webhook_events import EVENT
from pillarbox.domain.accounts.alert import AlertPost
from pillarbox.domain.timing import milliseconds, to_datetime
from pillarbox.domain.webhooks.endpoint import EndpointDrain, PostingTask

_VERSION: Final = 1


def group_of(task: PostingTask) -> str:
    """Return what has a fair part of the queue: the account, with all its endpoints."""
    return task.account_id


def write_task(task: PostingTask) -> str:
    """Write a task as JSON; moments are in milliseconds."""
    if isinstance(task, AlertPost):
        alert = {"version": _VERSION, "account": task.account_id, "alert": task.text}
        return json.dumps(alert | {"attempts": task.attempts}, separators=(",", ":"))
    fields: dict[str, Any] = {
        "version": _VERSION,
        "account": task.account_id,
        "endpoint": task.endpoint_id,
    }
    if isinstance(task, EndpointDrain):
        fields["drain"] = milliseconds(task.lease) if task.lease else 0
        fields |= {"successes": task.successes, "late": task.late}
    else:
        event = {name: value for name, value in EVENT.write(task).items() if value is not None}
        fields |= {"id": str(task.event_id), "at": milliseconds(task.at), **event}
        fields["attempts"] = task.attempts
    return json.dumps(fields, separators=(",", ":"))


def read_task(text: str) -> PostingTask:
    fields = json.loads(text)
    if fields["version"] != _VERSION:
        raise ValueError("the task has another version")
    if "alert" in fields:
        return AlertPost(fields["account"], fields["alert"], fields["attempts"])
    account_id, endpoint_id = fields["account"], fields["endpoint"]
    if "drain" in fields:
        lease = to_datetime(fields["drain"]) if fields["drain"] else None
        return EndpointDrain(account_id, endpoint_id, lease, fields["successes"], fields["late"])
    return EVENT.read(
        fields,
        event_id=UUID(fields["id"]),
        account_id=account_id,
        endpoint_id=endpoint_id,
        at=to_datetime(fields["at"]),
        attempts=fields["attempts"],
    )


class SqsWebhookQueue(SqsQueue):
    """Implements `webhooks.ports.WebhookQueue`."""

    def put_all(self, tasks: Iterable[PostingTask], delay: timedelta = timedelta(0)) -> None:
        """Queue tasks in batches of ten, some of them at the same time."""
        seconds = ceil(delay.total_seconds())
        send_all(
            self._sqs,
            self._queue_url,
            (
                {
                    "Id": str(number),
                    "MessageBody": write_task(task),
                    "MessageGroupId": group_of(task),
                    "DelaySeconds": seconds,
                }
                for number, task in enumerate(tasks)
            ),
        )

    read = staticmethod(read_task)
