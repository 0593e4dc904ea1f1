"""Jobs queue: hand accepted messages to SES, each once (docs/architecture.md, "Delivering")."""

from datetime import UTC, datetime, timedelta
from typing import Final

from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox.application.delivery.deliver import DeliveryResult, retry_wait
from pillarbox.application.ports import UnreadableJob
from pillarbox.consumer import RecordResult, consume_queue
from pillarbox.domain.errors import ServiceError
from pillarbox.wiring import services

#: In milliseconds. One message may wait 2 s for its turn and 23 s for SES, and must end before
#: the function does.
_TIME_FOR_ONE: Final = 30_000
#: From this receipt on a job waits at least so long, so that no job that only waits reaches the
#: 1,000 receipts of a dead letter within its 24 hours.
_MANY_RECEIPTS: Final = 100
_LONG_WAIT: Final = timedelta(minutes=3)


def deliver(record: SQSRecord, lambda_context: LambdaContext) -> RecordResult:
    try:
        job = services().jobs.read(record.body)
    except UnreadableJob as unreadable:
        result = services().poison_jobs.set_aside(record.body, unreadable, _sent_at(record))
        return _record_result(record, result, {"message_id": str(unreadable.message_id)})
    ids = {"account_id": job.account_id, "message_id": str(job.message_id)}
    if lambda_context.get_remaining_time_in_millis() < _TIME_FOR_ONE:
        services().jobs.postpone(record.event_source_arn, record.receipt_handle, timedelta(0))
        return RecordResult(outcome="out_of_time", retry_after=timedelta(0), ids=ids)
    receives = int(record.attributes.approximate_receive_count)
    try:
        result = services().delivery.deliver(job, first_receipt=receives == 1)
    except ServiceError:
        # Without this the job stays hidden for the queue's visibility timeout.
        services().jobs.postpone(
            record.event_source_arn, record.receipt_handle, retry_wait(receives)
        )
        raise
    return _record_result(record, result, ids)


def _record_result(record: SQSRecord, result: DeliveryResult, ids: dict[str, str]) -> RecordResult:
    if result.retry_after is not None:
        often = int(record.attributes.approximate_receive_count) >= _MANY_RECEIPTS
        wait = max(result.retry_after, _LONG_WAIT) if often else result.retry_after
        services().jobs.postpone(record.event_source_arn, record.receipt_handle, wait)
    counts = ("ambiguous_resend",) if result.resent else ()
    time_to_send = result.time_to_send
    return RecordResult(
        outcome=result.outcome,
        retry_after=result.retry_after,
        ids=ids,
        counts=counts,
        durations={} if time_to_send is None else {"time_to_send": time_to_send},
    )


def _sent_at(record: SQSRecord) -> datetime:
    """Return when the message was queued."""
    return datetime.fromtimestamp(int(record.attributes.sent_timestamp) / 1000, UTC)


lambda_handler = consume_queue(deliver)
