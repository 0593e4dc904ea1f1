"""Webhooks queue: post events to endpoints and alerts to chats, a batch at the same time."""

from collections.abc import Sequence

from pillarbox.consumer import LambdaContext, RecordResult, SQSRecord, consume_batch
from pillarbox.domain.accounts.alert import AlertPost
from pillarbox.domain.webhooks.endpoint import PostingTask, WebhookEvent
from pillarbox.http.webhooks.payload import payload_writers
from pillarbox.wiring import load, services


def post_webhooks(records: Sequence[SQSRecord], _: LambdaContext) -> list[RecordResult | Exception]:
    tasks = [_read(record.body) for record in records]
    readable = [task for task in tasks if not isinstance(task, Exception)]
    worker = services().webhook_worker(payload_writers(services().region))
    outcomes = iter(worker.handle(readable))
    return [t if isinstance(t, Exception) else _result(t, next(outcomes)) for t in tasks]


def _read(text: str) -> PostingTask | Exception:
    try:
        return services().webhooks_queue.read(text)
    except (KeyError, TypeError, ValueError) as error:
        return error


def _result(task: PostingTask, outcome: str | Exception) -> RecordResult | Exception:
    if isinstance(outcome, Exception):
        return outcome
    if isinstance(task, AlertPost):
        return RecordResult(outcome=outcome, ids={"account_id": task.account_id})
    ids = {"account_id": task.account_id, "endpoint_id": task.endpoint_id}
    if isinstance(task, WebhookEvent):
        ids["event_id"] = str(task.event_id)
    return RecordResult(outcome=f"webhook_{outcome}", ids=ids)


load(lambda it: it.webhook_worker(payload_writers(it.region)))
# The record of a delivery says more, and a line for each would cost a tenth of a post.
lambda_handler = consume_batch(post_webhooks, counted=frozenset({"webhook_delivered"}))
