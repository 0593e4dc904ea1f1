"""What SQS, the stream and the schedule get back from their functions."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from threading import Event
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from pillarbox import consumer
from pillarbox.application.stream_result import StreamResult
from pillarbox.consumer import (
    BatchFailed,
    RecordResult,
    Turn,
    consume_batch,
    consume_in_turns,
    consume_queue,
    consume_stream,
    run_on_schedule,
)
from pillarbox.settings import SettingError

CONTEXT: Any = SimpleNamespace(
    function_name="function",
    memory_limit_in_mb=1024,
    invoked_function_arn="arn:aws:lambda:eu-west-1:123456789012:function:function",
    aws_request_id="invocation",
)


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "pillarbox")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Pillarbox")


def messages(count: int) -> dict[str, Any]:
    """Return a batch of messages as Lambda's event source mapping passes it on."""
    return {
        "Records": [
            {"messageId": str(number), "body": "{}", "eventSource": "aws:sqs"}
            for number in range(count)
        ]
    }


def consume(*results: RecordResult | Exception) -> list[str]:
    """Consume one message for each result; return the numbers of those that SQS keeps."""

    def handle(record: SQSRecord, _: object) -> RecordResult:
        result = results[int(record.message_id)]
        if isinstance(result, Exception):
            raise result
        return result

    response = consume_queue(handle)(messages(len(results)), CONTEXT)
    return [failure["itemIdentifier"] for failure in response["batchItemFailures"]]


def result(
    retry_after: timedelta | None = None, *, outcome: str = "waiting", **more: Any
) -> RecordResult:
    return RecordResult(outcome=outcome, retry_after=retry_after, ids={"message_id": "m"}, **more)


def metrics(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return the values of the metrics that a function printed."""
    lines = map(json.loads, capsys.readouterr().out.splitlines())
    return {
        metric["Name"]: line[metric["Name"]]
        for line in lines
        if "_aws" in line
        for metric in line["_aws"]["CloudWatchMetrics"][0]["Metrics"]
    }


@pytest.mark.parametrize("wait", [timedelta(0), timedelta(microseconds=1), timedelta(hours=1)])
def test_a_message_with_a_retry_stays_in_the_queue(wait: timedelta) -> None:
    """SQS deletes a finished message and keeps one that is retried, at once or later."""
    assert consume(result(), result(wait), result()) == ["1"]


def test_a_failed_message_stays_in_the_queue_alone() -> None:
    assert consume(result(), ValueError("planted"), result()) == ["1"]


def test_a_batch_that_fails_as_a_whole_is_no_error() -> None:
    assert consume(ValueError("planted"), result(timedelta(0))) == ["0", "1"]


def test_a_missing_setting_ends_the_invocation() -> None:
    with pytest.raises(SettingError):
        consume(result(), SettingError("PILLARBOX_TABLE is not set"))


def test_a_retry_is_not_logged_as_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    """A retried message is logged with its outcome, and a failed one with its message id."""
    consume(result(timedelta(0)), ValueError("planted"))
    retried, failed = caplog.records
    assert (retried.levelname, vars(retried)["outcome"]) == ("INFO", "waiting")
    assert (failed.levelname, vars(failed)["queue_message_id"]) == ("ERROR", "1")


def test_outcomes_and_durations_are_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    consume(
        result(
            outcome="throttled",
            counts=("ambiguous_resend",),
            durations={"time_to_send": timedelta(milliseconds=1500.5)},
        ),
        result(timedelta(0), outcome="throttled"),
        result(timedelta(0)),
    )
    assert metrics(capsys) == {
        "throttled": [1.0, 1.0],
        "ambiguous_resend": [1.0],
        "time_to_send": [1500.5],
    }


def stream(retry_from: int | None, *errors: Exception) -> list[int]:
    """Consume three records; return how many were counted, if any were."""
    counted: list[int] = []

    def count(records: Sequence[Mapping[str, Any]]) -> dict[str, int]:
        counted.append(len(records))
        return {"changes": len(records)}

    records = [{"dynamodb": {"SequenceNumber": str(number)}} for number in (7, 8, 9)]
    handler = consume_stream(lambda _: StreamResult(retry_from, [*errors]), count)
    if retry_from is None:
        assert handler({"Records": records}, CONTEXT) == {"batchItemFailures": []}
    else:
        with pytest.raises(BatchFailed, match=f"record {retry_from}"):
            handler({"Records": records}, CONTEXT)
    return counted


@pytest.mark.parametrize(("retry_from", "counted"), [(None, [3]), (0, []), (1, []), (2, [])])
def test_a_batch_of_the_stream_is_retried_as_a_whole(
    retry_from: int | None, counted: list[int]
) -> None:
    """If any record must be retried, also the first, the invocation fails and counts nothing."""
    assert stream(retry_from) == counted


def test_each_error_of_a_stream_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    stream(0, ValueError("one"), ValueError("two"))
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR", "INFO"]


def test_a_schedule_counts_zeros(capsys: pytest.CaptureFixture[str]) -> None:
    """A healthy pass reports zeros, since an alarm takes a missing figure for a failure."""
    counts = {"overdue": 0, "statistics_repaired": 2}
    assert run_on_schedule(lambda _, __: counts)({}, CONTEXT) == counts
    assert metrics(capsys) == {"overdue": [0.0], "statistics_repaired": [2.0]}


def test_a_count_that_nothing_shows_is_only_logged(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """A metric costs by the month, so only counts that alarms or the dashboard use become one."""
    assert run_on_schedule(lambda _, __: {"sweep_tasks": 2})({}, CONTEXT)
    consume(result(outcome="swept", numbers={"orphaned_bodies": 3}))
    assert metrics(capsys) == {}
    ticked, consumed = caplog.records
    assert vars(ticked)["sweep_tasks"] == 2
    assert vars(consumed)["orphaned_bodies"] == 3


@pytest.mark.parametrize("error", [ValueError("planted"), SettingError("missing")])
def test_a_failed_pass_is_an_error_of_its_function(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pass that fails reports no figure, so that the alarm notices."""

    def fail(_: object, __: object) -> dict[str, int]:
        raise error

    with pytest.raises(type(error)):
        run_on_schedule(fail)({}, CONTEXT)
    assert metrics(capsys) == {}


def test_counted_outcomes_share_a_line(caplog: pytest.LogCaptureFixture) -> None:
    outcomes = ["good", "bad", "good"]
    handle = consume_batch(
        lambda _, __: [result(outcome=outcome) for outcome in outcomes], counted=frozenset({"good"})
    )
    handle(messages(3), CONTEXT)
    lines = [vars(record) for record in caplog.records if record.msg == "consumed"]
    assert [(line.get("outcome"), line.get("good")) for line in lines] == [
        ("bad", None),
        (None, 2),
    ]


def test_messages_are_handled_at_the_same_time_if_they_may_be() -> None:
    turns: list[Turn] = ["last", "together", "alone", "together"]
    ready, order = list[int](), list[tuple[Turn, int]]()

    def handle(record: SQSRecord, _: object, wait_for_all: Callable[[], None]) -> RecordResult:
        number = int(record.message_id)
        ready.append(number)
        wait_for_all()
        order.append((turns[number], len(ready)))
        return result(timedelta(0) if number == 1 else None)

    handler = consume_in_turns(handle, lambda record: turns[int(record.message_id)])
    with mock.patch.object(consumer, "PATIENCE", 60):
        assert handler(messages(4), CONTEXT) == {"batchItemFailures": [{"itemIdentifier": "1"}]}
    assert order == [("together", 2), ("together", 2), ("alone", 3), ("last", 4)]


@pytest.mark.parametrize(
    ("seconds", "left"), [(0.45, ["3"]), (0.95, ["2", "3"]), (1.05, ["1", "2", "3"])]
)
def test_a_batch_leaves_messages_after_a_second_of_single_ones(
    seconds: float, left: list[str]
) -> None:
    """The first one is always handled, and so are those that are handled together."""
    now = [0.0]

    def handle(*_: object) -> RecordResult:
        now[0] += seconds
        return result()

    turns: list[Turn] = ["alone", "alone", "alone", "last", "together", "together"]
    handler = consume_in_turns(
        handle,
        lambda record: turns[int(record.message_id)],
        leave=lambda *_: result(timedelta(0)),
    )
    with mock.patch.object(consumer, "monotonic", side_effect=lambda: now[0]):
        kept = handler(messages(6), CONTEXT)["batchItemFailures"]
    assert [one["itemIdentifier"] for one in kept] == left


@pytest.mark.parametrize("fails", [False, True])
def test_no_message_waits_for_one_that_ended(fails: bool) -> None:  # noqa: FBT001  a parameter
    def handle(record: SQSRecord, _: object, wait_for_all: Callable[[], None]) -> RecordResult:
        if record.message_id == "1":
            if fails:
                raise ValueError
            return result()
        wait_for_all()
        return result()

    handler = consume_in_turns(handle, lambda _: "together")
    started = time.monotonic()
    with mock.patch.object(consumer, "PATIENCE", 600):
        handler(messages(3), CONTEXT)
    assert time.monotonic() - started < 300


def test_a_slow_message_keeps_the_others_for_a_time_only() -> None:
    """The second message goes on while the first one still gets ready."""
    second_is_done = Event()

    def handle(record: SQSRecord, _: object, wait_for_all: Callable[[], None]) -> RecordResult:
        if record.message_id == "0":
            assert second_is_done.wait(60)
        wait_for_all()
        if record.message_id == "1":
            second_is_done.set()
        return result()

    handler = consume_in_turns(handle, lambda _: "together")
    with mock.patch.object(consumer, "PATIENCE", 0.01):
        assert handler(messages(2), CONTEXT) == {"batchItemFailures": []}
