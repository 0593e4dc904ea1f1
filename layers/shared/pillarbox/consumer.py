"""The entry points of functions that a queue, the table's stream or a schedule starts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from aws_lambda_powertools.metrics import Metrics, MetricUnit
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox import observability
from pillarbox.application.history.aggregate import StreamResult
from pillarbox.config import SettingMissing


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordResult:
    """What became of one queue message; it is kept in the queue when it is to come again."""

    outcome: str
    again: timedelta | None = None
    ids: Mapping[str, str]
    #: Things to count besides the outcome.
    counts: tuple[str, ...] = ()
    #: How long things took, by the metric's name.
    lasted: Mapping[str, timedelta] = field(default_factory=dict)


class RetryLater(Exception):
    """Tells the batch processor to leave a message in the queue; nothing went wrong."""


type Handler = Callable[[dict[str, Any], LambdaContext], Mapping[str, Any]]


def consume(handle: Callable[[SQSRecord, LambdaContext], RecordResult]) -> Handler:
    """Wrap what handles one message; a message that fails comes again, the others do not.

    A setting that is missing ends the invocation with its name: no message would fare better.
    """
    logger = observability.make_logger()
    metrics = observability.make_metrics()

    def handle_one(record: SQSRecord, lambda_context: LambdaContext) -> None:
        try:
            consumed = handle(record, lambda_context)
            logger.info("consumed", extra={"outcome": consumed.outcome, **consumed.ids})
            _measure(metrics, consumed)
        except SettingMissing:
            raise
        except Exception as error:
            observability.log_failure(logger, error, queue_message_id=record.message_id)
            raise
        if consumed.again is not None:
            raise RetryLater

    def lambda_handler(event: dict[str, Any], context: LambdaContext) -> Mapping[str, Any]:
        processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
        try:
            answer = process_partial_response(event, handle_one, processor, context)
        finally:
            if metrics.metric_set:
                metrics.flush_metrics()
        for _, error, _ in processor.exceptions:
            if isinstance(error, SettingMissing):
                raise error
        return answer

    return lambda_handler


def _measure(metrics: Metrics, consumed: RecordResult) -> None:
    for name in (consumed.outcome, *consumed.counts):
        metrics.add_metric(name=name, unit=MetricUnit.Count, value=1)
    for name, time in consumed.lasted.items():
        milliseconds = time / timedelta(milliseconds=1)
        metrics.add_metric(name=name, unit=MetricUnit.Milliseconds, value=milliseconds)


def follow(
    take: Callable[[Sequence[Mapping[str, Any]]], StreamResult],
    count: Callable[[Sequence[Mapping[str, Any]]], Mapping[str, int]],
) -> Handler:
    """Wrap what takes a batch of a stream's records; the stream goes on where it could not.

    What `count` makes of those that were taken becomes metrics.
    """
    logger = observability.make_logger()
    metrics = observability.make_metrics()

    def lambda_handler(event: dict[str, Any], _: LambdaContext) -> Mapping[str, Any]:
        records = event["Records"]
        taken = take(records)
        for name, number in count(records[: taken.retry_from]).items():
            metrics.add_metric(name=name, unit=MetricUnit.Count, value=number)
        if metrics.metric_set:
            metrics.flush_metrics()
        for error in taken.errors:
            observability.log_failure(logger, error)
        logger.info("consumed", extra={"records": len(records), "again_from": taken.retry_from})
        again = () if taken.retry_from is None else (records[taken.retry_from],)
        return {
            "batchItemFailures": [
                {"itemIdentifier": record["dynamodb"]["SequenceNumber"]} for record in again
            ]
        }

    return lambda_handler


def tick(work: Callable[[dict[str, Any], LambdaContext], Mapping[str, int]]) -> Handler:
    """Wrap what a schedule starts; what it counts becomes metrics, zeros too.

    A zero is what tells an alarm that all is well: no figure at all would not.
    """
    logger = observability.make_logger()
    metrics = observability.make_metrics()

    def lambda_handler(event: dict[str, Any], context: LambdaContext) -> Mapping[str, int]:
        try:
            counts = work(event, context)
        except SettingMissing:
            raise
        except Exception as error:
            observability.log_failure(logger, error)
            raise
        logger.info("ticked", extra=dict(counts))
        for name, count in counts.items():
            metrics.add_metric(name=name, unit=MetricUnit.Count, value=count)
        metrics.flush_metrics()
        return counts

    return lambda_handler
