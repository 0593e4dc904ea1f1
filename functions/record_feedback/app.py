"""Events queue: turn the events of SES into statuses and suppressions."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from pillarbox.application.delivery.feedback import FeedbackOutcome, FeedbackResult
from pillarbox.application.delivery.ports import EventRecord
from pillarbox.consumer import LambdaContext, RecordResult, SQSRecord, consume_batch
from pillarbox.wiring import load, services

#: What this process has logged as unknown. AWS may add it to every event.
_LOGGED: Final = set[str]()


def record_feedback(
    records: Sequence[SQSRecord], _: LambdaContext
) -> list[RecordResult | Exception]:
    results = services().feedback.record([_event_record(record) for record in records])
    return [r if isinstance(r, Exception) else _record_result(r) for r in results]


def _event_record(record: SQSRecord) -> EventRecord:
    return EventRecord(record.body, int(record.attributes.approximate_receive_count))


def _record_result(result: FeedbackResult) -> RecordResult:
    event = result.provider_event
    ids = {"account_id": event.account_id, "message_id": str(event.message_id)} if event else {}
    unknown = tuple(name for name in event.unknown if name not in _LOGGED) if event else ()
    _LOGGED.update(unknown)
    counts = ("sending_paused",) if result.strangers_paused else ()
    # The queue hides the event for a minute from its receipt on.
    again = timedelta(minutes=1) if result.again else None
    return RecordResult(
        outcome=result.outcome, ids=ids, unknown=unknown, counts=counts, retry_after=again
    )


load(lambda it: it.feedback)
# What an event changed is in the record of its message.
lambda_handler = consume_batch(
    record_feedback,
    counted=frozenset({FeedbackOutcome.CHANGED, FeedbackOutcome.KNOWN, FeedbackOutcome.IGNORED}),
)
