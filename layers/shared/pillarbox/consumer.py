"""The entry points of functions that no HTTP request starts: each kind of event has one."""

import pillarbox.packages  # noqa: F401  before Powertools is imported

# isort: split
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event
from time import monotonic
from typing import Any, Final, Literal

from aws_lambda_powertools.metrics import Metrics, MetricUnit
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from pillarbox import observability
from pillarbox.application.stream_result import StreamResult
from pillarbox.settings import SettingError

__all__ = ["LambdaContext", "SQSRecord"]  # handlers import both from here, after `packages`

#: The metrics that an alarm or the dashboard shows (stacks/alarms.yaml). Every metric costs by the
#: month, so all other counts are only in the log.
METRICS: Final = frozenset(
    {
        "accepted",
        "ambiguous_resend",
        "bounced",
        "build_died",
        "complained",
        "delivered",
        "failed",
        "late",
        "overdue",
        "quarantined",
        "sending_paused",
        "statistics_marked",
        "statistics_repaired",
        "throttled",
        "time_to_send",
        "uncertain",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordResult:
    """The result of one queue message. With `retry_after` the message stays in the queue."""

    outcome: str
    retry_after: timedelta | None = None
    #: What the line in the log has besides the outcome: ids, and the code of AWS's error.
    ids: Mapping[str, str]
    #: What is new to this release. Such a result has a line of its own.
    unknown: tuple[str, ...] = ()
    #: What to count in addition to the outcome.
    counts: tuple[str, ...] = ()
    #: Numbers by their name. A zero becomes a metric as well.
    numbers: Mapping[str, int] = field(default_factory=dict)
    #: Durations by the name of their metric.
    durations: Mapping[str, timedelta] = field(default_factory=dict)


type Handler = Callable[[dict[str, Any], LambdaContext], Mapping[str, Any]]


#: How many seconds the messages of a batch wait for a slow one of them.
PATIENCE = 0.5

#: How many seconds a batch takes for the messages that it handles one after the other, before it
#: leaves the rest of them to others.
BUSY = 1.0

#: When a message of a batch is handled: first, at the same time as others, or alone after these, or
#: alone after all others.
type Turn = Literal["together", "alone", "last"]
type HandleOne = Callable[[SQSRecord, LambdaContext, Callable[[], None]], RecordResult]


def consume_queue(handle: Callable[[SQSRecord, LambdaContext], RecordResult]) -> Handler:
    """Return the Lambda handler of a queue from a function that handles one message at a time."""
    return consume_in_turns(lambda record, context, _: handle(record, context), lambda _: "alone")


def consume_in_turns(
    handle: HandleOne,
    turn: Callable[[SQSRecord], Turn],
    count_error: Callable[[SQSRecord], tuple[str, ...]] = lambda _: (),
    leave: HandleOne | None = None,
) -> Handler:
    """Return the Lambda handler of a queue that handles messages of a batch at the same time.

    `turn` says which ones. Each of these has a thread. `handle` gets a function to call before
    its first step that another worker must not repeat. The function waits until all threads
    have called it or ended, or `PATIENCE` is over, so that a message that kills the worker
    before that step leaves the others as they were. `count_error` as in `consume_batch`. `leave`
    returns a message to the queue; it is called for those alone once they took `BUSY`.
    """

    def handle_each(
        records: Sequence[SQSRecord], context: LambdaContext
    ) -> Sequence[RecordResult | Exception]:
        turns: dict[Turn, list[int]] = {"together": [], "alone": [], "last": []}
        for number, record in enumerate(records):
            turns[turn(record)].append(number)
        missing, all_ready = set(turns["together"]), Event()

        def handle_one(number: int, handle: HandleOne = handle) -> RecordResult | Exception:
            def come() -> None:
                missing.discard(number)
                if not missing:
                    all_ready.set()

            def wait_for_all() -> None:
                if number in missing:
                    come()
                    all_ready.wait(PATIENCE)

            try:
                return handle(records[number], context, wait_for_all)
            except Exception as error:  # noqa: BLE001  the handler of the batch logs it
                return error
            finally:
                come()

        results = _together(handle_one, turns["together"])
        started = monotonic()
        for number in turns["alone"] + turns["last"]:
            is_busy = monotonic() - started >= BUSY
            results[number] = handle_one(number, leave if leave and is_busy else handle)
        return [results[number] for number in range(len(records))]

    return consume_batch(handle_each, count_error=count_error)


def _together[R](call: Callable[[int], R], numbers: Sequence[int]) -> dict[int, R]:
    if len(numbers) <= 1:
        return {number: call(number) for number in numbers}
    with ThreadPoolExecutor(len(numbers)) as pool:
        return dict(zip(numbers, pool.map(call, numbers), strict=True))


def consume_batch(
    handle: Callable[[Sequence[SQSRecord], LambdaContext], Sequence[RecordResult | Exception]],
    *,
    counted: frozenset[str] = frozenset(),
    count_error: Callable[[SQSRecord], tuple[str, ...]] = lambda _: (),
) -> Handler:
    """Return the Lambda handler of a queue from a function that handles messages together.

    The function returns the result or the error of each message. SQS delivers the failed and
    the postponed messages again. A missing setting ends the invocation with the name of the
    setting, because every message would fail. The outcomes in `counted` have a line in the log
    for the batch and none for each message. `count_error` returns what to count if a message
    failed with an error.
    """
    logger = observability.make_logger()
    metrics = observability.make_metrics()

    def lambda_handler(event: dict[str, Any], context: LambdaContext) -> Mapping[str, Any]:
        records = [SQSRecord(record) for record in event["Records"]]
        kept = []
        counts: Counter[str] = Counter()
        for record, result in zip(records, handle(records, context), strict=True):
            if isinstance(result, SettingError):
                raise result
            if isinstance(result, Exception):
                observability.log_failure(logger, result, queue_message_id=record.message_id)
                kept.append(record.message_id)
                _add_counts(metrics, dict.fromkeys(count_error(record), 1))
                continue
            if result.outcome in counted and not result.unknown:
                counts[result.outcome] += 1
            else:
                fields = {"outcome": result.outcome, **result.ids, **result.numbers}
                unknown = {"unknown": result.unknown} if result.unknown else {}
                logger.info("consumed", extra=fields | unknown)
            _add_metrics(metrics, result)
            if result.retry_after is not None:
                kept.append(record.message_id)
        if counts:
            logger.info("consumed", extra=dict(counts))
        if metrics.metric_set:
            metrics.flush_metrics()
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in kept]}

    return lambda_handler


def _add_metrics(metrics: Metrics, result: RecordResult) -> None:
    _add_counts(metrics, {**dict.fromkeys((result.outcome, *result.counts), 1), **result.numbers})
    for name, duration in result.durations.items():
        milliseconds = duration / timedelta(milliseconds=1)
        metrics.add_metric(name=name, unit=MetricUnit.Milliseconds, value=milliseconds)


def _add_counts(metrics: Metrics, counts: Mapping[str, int]) -> None:
    for name in counts.keys() & METRICS:
        metrics.add_metric(name=name, unit=MetricUnit.Count, value=counts[name])


class BatchFailed(Exception):
    """A part of a batch from the stream must be retried; the log has the errors."""


def consume_stream(
    apply: Callable[[Sequence[Mapping[str, Any]]], StreamResult],
    count: Callable[[Sequence[Mapping[str, Any]]], Mapping[str, int]],
) -> Handler:
    """Return the Lambda handler of a stream from a function that applies a batch of records.

    If a part of the batch must be retried, the invocation fails, so that the whole batch is
    retried. A partial response would do less work again, but an engine that ignores it loses
    the changes unnoticed. The counts that `count` returns for an applied batch are logged, and
    those in `METRICS` become metrics.
    """
    logger = observability.make_logger()
    metrics = observability.make_metrics()

    def lambda_handler(event: dict[str, Any], _: LambdaContext) -> Mapping[str, Any]:
        records = event["Records"]
        result = apply(records)
        counts = dict(count(records)) if result.retry_from is None else {}
        if result.marked_hours:
            counts["statistics_marked"] = result.marked_hours
        if result.paused:
            counts["sending_paused"] = result.paused
        _add_counts(metrics, counts)
        if metrics.metric_set:
            metrics.flush_metrics()
        for error in result.errors:
            observability.log_failure(logger, error)
        logger.info(
            "consumed", extra={"records": len(records), "again_from": result.retry_from, **counts}
        )
        if result.retry_from is not None:
            raise BatchFailed(f"the batch must be retried from its record {result.retry_from}")
        return {"batchItemFailures": []}

    return lambda_handler


type Work = Callable[[dict[str, Any], LambdaContext], Mapping[str, int]]


class InvocationFailed(Exception):
    """An asynchronous invocation must be retried; the log has the error."""


def run_on_invocation(work: Work) -> Handler:
    """Return the Lambda handler of asynchronous invocations, which Lambda retries if they fail.

    It logs and counts as `run_on_schedule` does. Lambda logs the text of an error that a handler
    raises, and libraries quote their input there, so it gets an error of ours.
    """
    run = run_on_schedule(work, "consumed")

    def lambda_handler(event: dict[str, Any], context: LambdaContext) -> Mapping[str, Any]:
        try:
            return run(event, context)
        except SettingError:
            raise
        except Exception:  # noqa: BLE001  it is in the log
            raise InvocationFailed("the log has the error") from None

    return lambda_handler


def run_on_schedule(work: Work, line: str = "ticked") -> Handler:
    """Return the Lambda handler of a schedule, which logs the counts that `work` returns.

    Those in `METRICS` become metrics, zeros too: an alarm reads a zero as healthy and a missing
    figure as a failure. `line` is the message in the log.
    """
    logger = observability.make_logger()
    metrics = observability.make_metrics()

    def lambda_handler(event: dict[str, Any], context: LambdaContext) -> Mapping[str, int]:
        try:
            counts = work(event, context)
        except SettingError:
            raise
        except Exception as error:
            observability.log_failure(logger, error)
            raise
        logger.info(line, extra=dict(counts))
        _add_counts(metrics, counts)
        if metrics.metric_set:
            metrics.flush_metrics()
        return counts

    return lambda_handler
