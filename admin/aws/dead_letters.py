"""Look into dead-letter queues, and take single dead letters out."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import batched
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID

from admin.use_cases.dead_letters import RESULT, DeadLetter
from pillarbox.adapters.aws import client_of, operator_errors
from pillarbox.adapters.ses.events import find_message, read_provider_event, snake_case
from pillarbox.adapters.sqs import jobs, sweep_tasks, webhook_jobs
from pillarbox.application.delivery.ports import TenantChange, UnreadableEvent
from pillarbox.application.ports import UnreadableJob
from pillarbox.domain.accounts.alert import AlertPost
from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH
from pillarbox.domain.ids import is_token, is_uuid
from pillarbox.domain.timing import to_datetime
from pillarbox.domain.webhooks.endpoint import WebhookEvent

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_NAME: Final = "queue"
#: SQS returns and changes at most ten messages in a request.
_BATCH: Final = 10
#: Seconds in which no other reader sees a message that is looked at, unless the command is killed.
_VISIBILITY_TIMEOUT: Final = 30
_UNREADABLE: Final = "not a message of a known version"


class _Content(NamedTuple):
    """What may be shown of a text."""

    task: str | None = None
    account_id: str | None = None
    message_id: UUID | None = None
    endpoint_id: str | None = None
    problem: str | None = None


class SqsDeadLetterQueues:
    """Implements `use_cases.dead_letters.DeadLetterQueues`."""

    _sqs: "SQSClient" = client_of("sqs")

    def look(self, queue: str, url: str, at_most: int) -> Sequence[DeadLetter]:
        """Receive messages, and make them visible to others again.

        SQS counts each look as a receipt.
        """
        with self._received(url, at_most) as messages:
            letters = [_letter(_READERS[queue], message) for message in messages]
        return letters[:at_most]

    def remove(self, url: str, queue_message_id: str) -> bool:
        """Receive messages until it is among them, and delete it; the others stay."""
        with self._received(url, sys.maxsize) as messages:
            for message in messages:
                if message["MessageId"] == queue_message_id:
                    self._sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
                    return True
        return False

    @contextmanager
    def _received(self, url: str, at_most: int) -> Iterator[Iterator[Any]]:
        """Yield messages, each once; at the end make visible what was received and is there."""
        receipts: dict[str, str] = {}

        def each() -> Iterator[Any]:
            while len(receipts) < at_most and (messages := self._receive(url, at_most)):
                new = [message for message in messages if message["MessageId"] not in receipts]
                receipts.update((one["MessageId"], one["ReceiptHandle"]) for one in messages)
                yield from new
                if not new:  # they are visible again
                    return

        with operator_errors(_NAME):
            try:
                yield each()
            finally:
                for batch in batched(receipts.values(), _BATCH, strict=False):
                    self._sqs.change_message_visibility_batch(
                        QueueUrl=url,
                        Entries=[
                            {"Id": str(number), "ReceiptHandle": receipt, "VisibilityTimeout": 0}
                            for number, receipt in enumerate(batch)
                        ],
                    )

    def _receive(self, url: str, at_most: int) -> Sequence[Any]:
        return self._sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=min(at_most, _BATCH),
            VisibilityTimeout=_VISIBILITY_TIMEOUT,
            MessageSystemAttributeNames=["ApproximateReceiveCount", "SentTimestamp"],
            # A long poll asks all SQS servers; a short poll may miss messages.
            WaitTimeSeconds=1,
        ).get("Messages", [])


def _letter(read: Callable[[str], _Content], message: Mapping[str, Any]) -> DeadLetter:
    text, attributes = message["Body"], message["Attributes"]
    try:
        content = read(text)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        # The error may quote the text.
        content = _Content(problem=_UNREADABLE)
    return DeadLetter(
        queue_message_id=message["MessageId"],
        task=content.task,
        # A text that we did not write may have anything in place of an id.
        account_id=content.account_id
        if content.account_id and is_token(content.account_id, ACCOUNT_ID_LENGTH)
        else None,
        message_id=content.message_id,
        endpoint_id=content.endpoint_id
        if content.endpoint_id and is_uuid(content.endpoint_id)
        else None,
        size=len(text.encode()),
        receive_count=int(attributes["ApproximateReceiveCount"]),
        sent_at=to_datetime(int(attributes["SentTimestamp"])),
        problem=content.problem,
    )


def _read_job(text: str) -> _Content:
    try:
        job = jobs.read_job(text)
    except UnreadableJob as error:
        return _Content(None, error.account_id, error.message_id, problem=str(error))
    if job.result:
        task = RESULT
    elif job.due_at:
        task = "email that waited"
    else:
        task = "email in the bucket" if job.spool_key else "email in the queue"
    return _Content(task, job.account_id, job.message_id)


def _read_event(text: str) -> _Content:
    try:
        event = read_provider_event(text)
    except UnreadableEvent as error:
        named = find_message(text)
        if named is None:
            raise
        return _Content(None, named.account_id, named.message_id, problem=str(error))
    if event is None:
        return _Content("event that changes nothing")
    if isinstance(event, TenantChange):
        return _Content(f"status of the tenant {event.tenant} at SES")
    record = json.loads(text)
    kind = snake_case(record.get("detail", record)["eventType"].replace(" ", ""))
    return _Content(kind, event.account_id, event.message_id)


def _read_webhook_task(text: str) -> _Content:
    task = webhook_jobs.read_task(text)
    if isinstance(task, WebhookEvent):
        return _Content(task.type.value, task.account_id, task.message_id, task.endpoint_id)
    if isinstance(task, AlertPost):
        return _Content("alert for a chat", task.account_id)
    return _Content("events that wait", task.account_id, endpoint_id=task.endpoint_id)


def _read_sweep_task(text: str) -> _Content:
    task = sweep_tasks.read_task(text)
    return _Content(task.step.value, task.account_id)


_READERS: Final[Mapping[str, Callable[[str], _Content]]] = {
    "jobs": _read_job,
    "events": _read_event,
    "webhooks": _read_webhook_task,
    "sweep": _read_sweep_task,
    "received": lambda _: _Content("received mail"),
}
