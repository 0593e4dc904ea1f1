"""Jobs queue: hand accepted mail to SES, each message once (docs/architecture.md, "Delivering")."""

from datetime import UTC, datetime, timedelta
from typing import Final

from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox.application.delivery.deliver import DeliveryResult
from pillarbox.application.ports import UnreadableJob
from pillarbox.consumer import RecordResult, consume_queue
from pillarbox.wiring import delivery, jobs, poison_jobs

#: In milliseconds. A hand-over may wait 20 s for SES and must end before the function does.
_TIME_FOR_ONE: Final = 25_000


def deliver(record: SQSRecord, lambda_context: LambdaContext) -> RecordResult:
    try:
        job = jobs().read(record.body)
    except UnreadableJob as unreadable:
        result = poison_jobs().set_aside(record.body, unreadable, _sent_at(record))
        return _consumed(record, result, {"message_id": str(unreadable.message_id)})
    ids = {"account_id": job.account_id, "message_id": str(job.message_id)}
    if lambda_context.get_remaining_time_in_millis() < _TIME_FOR_ONE:
        jobs().postpone(record.receipt_handle, timedelta(0))
        return RecordResult(outcome="out_of_time", retry_after=timedelta(0), ids=ids)
    return _consumed(record, delivery().deliver(job), ids)


def _consumed(record: SQSRecord, result: DeliveryResult, ids: dict[str, str]) -> RecordResult:
    if result.again is not None:
        jobs().postpone(record.receipt_handle, result.again)
    counts = ("ambiguous_resend",) if result.resent else ()
    return RecordResult(
        outcome=result.outcome,
        retry_after=result.again,
        ids=ids,
        counts=counts,
        durations={"time_to_send": result.waited} if result.waited is not None else {},
    )


def _sent_at(record: SQSRecord) -> datetime:
    """When the message came into the queue."""
    return datetime.fromtimestamp(int(record.attributes.sent_timestamp) / 1000, UTC)


lambda_handler = consume_queue(deliver)
