"""Jobs queue: hand accepted messages to SES, each once (docs/architecture.md, "Delivering")."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from pillarbox.application.delivery.result import DeliveryResult, Outcome, retry_wait
from pillarbox.application.ports import BuildDied, UnreadableJob
from pillarbox.application.render import template_of_codes
from pillarbox.consumer import LambdaContext, RecordResult, SQSRecord, Turn, consume_in_turns
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.mail import Job
from pillarbox.wiring import load, services, utc_now

#: In milliseconds. SES may take 23 s, and a hand-over must end before the function does.
_TIME_FOR_ONE: Final = 25_000
#: A message that is built in a process of its own may take 20 s longer.
_TIME_FOR_SUSPECT: Final = 45_000
#: From this receipt on a job waits at least so long, so that no job that only waits reaches the
#: 1,000 receipts of a dead letter within its 24 hours.
_MANY_RECEIPTS: Final = 100
_LONG_WAIT: Final = timedelta(minutes=3)


def deliver(
    record: SQSRecord, lambda_context: LambdaContext, wait_for_all: Callable[[], None]
) -> RecordResult:
    try:
        job = services().jobs.read(record.body)
    except UnreadableJob as unreadable:
        result = services().poison_jobs.set_aside(record.body, unreadable, _sent_at(record))
        return _record_result(record, result, {"message_id": str(unreadable.message_id)})
    ids = {"account_id": job.account_id, "message_id": str(job.message_id)}
    suspect = _is_suspect(record)

    def has_time(needed: int = _TIME_FOR_ONE) -> bool:
        return lambda_context.get_remaining_time_in_millis() >= needed

    if not has_time(_TIME_FOR_SUSPECT if suspect else _TIME_FOR_ONE):
        wait = _postpone(record, timedelta(0))
        return RecordResult(outcome="out_of_time", retry_after=wait, ids=ids, counts=_late(job))
    try:
        if suspect:
            result = _deliver_alone(record, job, has_time)
        else:

            def has_time_now() -> bool:
                wait_for_all()  # none is leased before all are built
                return has_time()

            result = _deliver(record, job, has_time_now)
        if result.outcome is Outcome.HELD and result.retry_after is not None:
            services().jobs.put_again(job, record.body, result.retry_after)
            return RecordResult(outcome=result.outcome, ids=ids)
    except ServiceError:
        # Without this the job stays hidden for the queue's visibility timeout.
        services().jobs.postpone(
            record.event_source_arn, record.receipt_handle, retry_wait(_receives(record))
        )
        raise
    is_waiting = result.retry_after is not None and not result.expected
    return _record_result(record, result, ids, _late(job) if is_waiting else ())


def turn(record: SQSRecord) -> Turn:
    """Return when to deliver a job of a batch.

    A job that may kill its worker comes last: each waits for its own tokens, and its process must
    be copied while no thread runs. A mail in the spool is large, and so may be uploaded files or a
    mail that waited: only one of them at a time is in memory.
    """
    try:
        _ = services().delivery  # made before threads use it
        job = services().jobs.read(record.body)
    except Exception:  # noqa: BLE001  `deliver` meets it again and reports it
        return "alone"
    if _is_suspect(record):
        return "last"
    is_small = job.spool_key is None and job.mail is not None and not job.mail.uploads
    return "together" if is_small or job.result is not None else "alone"


def _deliver(record: SQSRecord, job: Job, has_time: Callable[[], bool]) -> DeliveryResult:
    first = _receives(record) == 1
    delivery = (services().due_delivery if job.due_at else services().delivery).within(has_time)
    return delivery.deliver(job, first_receipt=first, sent_at=_sent_at(record))


def _deliver_alone(record: SQSRecord, job: Job, has_time: Callable[[], bool]) -> DeliveryResult:
    isolated = services().isolated_due_delivery if job.due_at else services().isolated_delivery
    delivery = isolated.within(has_time)
    try:
        return delivery.deliver(job, first_receipt=False, sent_at=_sent_at(record))
    except BuildDied:
        return services().poison_jobs.record_death(record.body, job)


def _record_result(
    record: SQSRecord, result: DeliveryResult, ids: dict[str, str], late: tuple[str, ...] = ()
) -> RecordResult:
    if result.retry_after is not None:
        _postpone(record, result.retry_after)
    counts = ("ambiguous_resend", *late) if result.resent else late
    time_to_send = result.time_to_send
    error = result.provider_error or result.unkept
    why = {} if error is None else {"aws_error": error}
    if result.unkept:
        why["content"] = "not_kept"
    return RecordResult(
        outcome=result.outcome,
        retry_after=result.retry_after,
        ids=ids | why,
        counts=counts,
        durations={} if time_to_send is None else {"time_to_send": time_to_send},
    )


def leave(record: SQSRecord, *_: object) -> RecordResult:
    """Leave a large mail to another worker, so that this one can take smaller ones."""
    wait = _postpone(record, timedelta(0))
    return RecordResult(outcome="left", retry_after=wait, ids={}, counts=count_late(record))


def count_late(record: SQSRecord) -> tuple[str, ...]:
    """Return what to count for a job that stays in the queue because of an error."""
    try:
        return _late(services().jobs.read(record.body))
    except Exception:  # noqa: BLE001  `deliver` has met it and reported it
        return ()


def _late(job: Job) -> tuple[str, ...]:
    """Return what to count for a job that stays in the queue.

    SQS leaves a message that was received three times out of the age of the oldest one.
    """
    return ("late",) if job.is_late(utc_now()) else ()


def _postpone(record: SQSRecord, wait: timedelta) -> timedelta:
    """Hide a job for a time, longer if it was received often; return the time."""
    if _receives(record) >= _MANY_RECEIPTS:
        wait = max(wait, _LONG_WAIT)
    services().jobs.postpone(record.event_source_arn, record.receipt_handle, wait)
    return wait


def _receives(record: SQSRecord) -> int:
    return int(record.attributes.approximate_receive_count)


def _is_suspect(record: SQSRecord) -> bool:
    """Return whether the job may have killed a worker."""
    if _receives(record) == 1:
        return False
    first_received_at = _time(record.attributes.approximate_first_receive_timestamp)
    return services().poison_jobs.may_be_deadly(first_received_at)


def _sent_at(record: SQSRecord) -> datetime:
    """Return when the message was queued."""
    return _time(record.attributes.sent_timestamp)


def _time(milliseconds: str) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)


load(lambda it: (it.delivery, template_of_codes()))
lambda_handler = consume_in_turns(deliver, turn, count_late, leave)
