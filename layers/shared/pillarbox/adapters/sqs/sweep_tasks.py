"""The queue of sweep tasks, and the form of its messages."""

import json
from collections.abc import Iterable
from itertools import batched
from typing import Any, Final

from pillarbox.adapters.sqs.batches import MAX_ENTRIES, SqsQueue, send_all
from pillarbox.application.delivery.ports import SweepStep, SweepTask
from pillarbox.application.history.ports import RebuildMark
from pillarbox.domain.timing import milliseconds, to_datetime

_VERSION: Final = 1
#: Tasks that are made before they are queued: ten requests for each of ten threads.
_TASKS_AT_A_TIME: Final = 1_000
#: The most seconds for which SQS hides a new message.
_MAX_DELAY: Final = 900


def write_task(task: SweepTask) -> str:
    """Write a task as JSON; moments are in milliseconds."""
    fields: dict[str, Any] = {
        "version": _VERSION,
        "account": task.account_id,
        "pass": milliseconds(task.pass_at),
        "step": task.step.value,
    }
    if task.cursor is not None:
        fields["cursor"] = task.cursor
    if task.mark is not None:
        fields |= {"hour": task.mark.hour, "marked": milliseconds(task.mark.marked_at)}
    return json.dumps(fields)


def read_task(text: str) -> SweepTask:
    fields = json.loads(text)
    if fields["version"] != _VERSION:
        raise ValueError("the task has another version")
    step, account_id = SweepStep(fields["step"]), fields["account"]
    mark = None
    if step is SweepStep.REBUILD:
        mark = RebuildMark(account_id, int(fields["hour"]), to_datetime(fields["marked"]))
    return SweepTask(
        account_id=account_id,
        pass_at=to_datetime(fields["pass"]),
        step=step,
        cursor=fields.get("cursor"),
        mark=mark,
    )


class SqsSweepTasks(SqsQueue):
    """Implements `delivery.ports.SweepTasks`, and reads tasks for the worker."""

    def put_all(self, tasks: Iterable[SweepTask]) -> int:
        """Queue tasks in batches of ten, some of them at the same time.

        Each second ten of them become visible, so a pass of many accounts takes few functions.
        """
        count = 0
        for group in batched(tasks, _TASKS_AT_A_TIME, strict=False):
            send_all(
                self._sqs,
                self._queue_url,
                (
                    {
                        "Id": str(number),
                        "MessageBody": write_task(task),
                        "DelaySeconds": (count + number) // MAX_ENTRIES % _MAX_DELAY,
                    }
                    for number, task in enumerate(group)
                ),
            )
            count += len(group)
        return count

    read = staticmethod(read_task)
