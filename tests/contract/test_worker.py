"""The worker's invocations: what stays in the queue, until when, and under which deadline."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from typing import Any
from unittest import mock
from uuid import uuid4

import pytest
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from pillarbox import consumer, wiring
from pillarbox.adapters.dynamodb.messages.messages import DynamoMessages
from pillarbox.adapters.dynamodb.messages.sending_rate import DynamoSendingRate
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.application.delivery import build_message
from pillarbox.application.delivery.build_message import build_raw
from pillarbox.application.delivery.feedback import FeedbackOutcome, FeedbackResult
from pillarbox.application.delivery.result import DeliveryResult, Outcome
from pillarbox.domain.accounts.account import QueuedMail
from pillarbox.domain.accounts.key import account_of_key
from pillarbox.domain.errors import ServiceError, Unavailable
from pillarbox.domain.messages.mail import Mail
from pillarbox.domain.messages.message import Message
from tests.aws import shared_client
from tests.contract.bodies import otp, raw_html
from tests.contract.client import Api, Invocation, handler
from tests.contract.service import Service, queue_record

DUE_VERSION = 4

VISIBILITY = timedelta(seconds=90)
MAX_DELIVERY_TIME = timedelta(hours=24)

THROTTLED = (429, "TooManyRequestsException")


#: Milliseconds that one mail may take: 23 seconds for SES, and two for the rest.
TIME_FOR_ONE = 25_000


@dataclass(frozen=True, slots=True)
class EndingInvocation(Invocation):
    """An invocation that ends soon."""

    milliseconds: int = TIME_FOR_ONE - 1

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds


@pytest.fixture(autouse=True)
def _ses(service: Service) -> Iterator[None]:
    yield
    service.ses.failure = None


def work(records: list[dict[str, Any]], context: object = None) -> list[str]:
    """Pass jobs to the worker; return the ids of those that stay in the queue."""
    response = handler("deliver_message")({"Records": records}, context or Invocation())
    return [failure["itemIdentifier"] for failure in response["batchItemFailures"]]


def receive(service: Service, api: Api) -> list[dict[str, Any]]:
    """Receive the account's visible jobs and hide them for long, as the queue does for a worker."""
    jobs = service.jobs_of(api)
    for job in jobs:
        urgent = job["eventSourceARN"].endswith(service.urgent_url.rpartition("/")[2])
        shared_client("sqs").change_message_visibility(
            QueueUrl=service.urgent_url if urgent else service.queue_url,
            ReceiptHandle=job["receiptHandle"],
            VisibilityTimeout=3_600,
        )
    return jobs


def received_again(job: dict[str, Any], after: timedelta, receives: int = 2) -> dict[str, Any]:
    """Return a job as the queue delivers it some time after its first receipt."""
    first = round((wiring.utc_now() - after).timestamp() * 1000)
    counts = {
        "ApproximateReceiveCount": str(receives),
        "ApproximateFirstReceiveTimestamp": str(first),
    }
    return job | {"attributes": job["attributes"] | counts}


def test_a_job_without_time_is_visible_again_at_once(service: Service, live: Api) -> None:
    """A worker that is about to end hands its jobs to the next worker, which sends the mail."""
    sent = len(service.ses.mails)
    message_id = live.send(otp()).json["messageId"]
    jobs = receive(service, live)
    assert work(jobs, EndingInvocation()) == [jobs[0]["messageId"]]
    assert len(service.ses.mails) == sent
    (again,) = receive(service, live)
    assert work([again]) == []
    assert len(service.ses.mails) == sent + 1
    assert live.get(message_id).json["status"] == "sent"


def test_a_job_with_just_enough_time_is_sent(service: Service, live: Api) -> None:
    sent = len(service.ses.mails)
    live.send(otp())
    assert work(receive(service, live), EndingInvocation(milliseconds=TIME_FOR_ONE)) == []
    assert len(service.ses.mails) == sent + 1


@pytest.mark.parametrize(("seconds", "sent"), [(35, 10), (36, 0)])
def test_a_slow_start_leaves_the_whole_batch_to_one_worker(
    service: Service, live: Api, monkeypatch: pytest.MonkeyPatch, seconds: int, sent: int
) -> None:
    """While the first job loads the code, the time of all others passes too: all ten are sent.

    With too little time for a hand-over that starts now, none is begun, and all are shown at once.
    """
    acquire, left = DynamoSendingRate.acquire, [60_000]

    def acquire_after_load(*arguments: Any, **options: Any) -> Any:
        left[0] = 60_000 - 1_000 * seconds
        return acquire(*arguments, **options)

    monkeypatch.setattr(DynamoSendingRate, "acquire", acquire_after_load)
    context = mock.Mock(wraps=Invocation())
    context.get_remaining_time_in_millis = lambda: left[0]
    before = len(service.ses.mails)
    body = {"messages": [otp() for _ in range(10)]}
    assert live.raw("POST", "/emails/batch", body, {}).status == 200
    jobs = receive(service, live)
    assert len(work(jobs, context)) == 10 - sent
    assert len(service.ses.mails) == before + sent
    shown = receive(service, live)
    assert len(shown) == 10 - sent
    assert work(shown) == []


@pytest.mark.parametrize("receives", [1, 2])
@pytest.mark.parametrize(("minutes", "kept"), [(14, ["1"]), (16, [])])
def test_a_job_is_as_old_as_the_queue_says(
    service: Service, live: Api, receives: int, minutes: float, kept: list[str]
) -> None:
    """A job without a record waits for 15 minutes by SQS's clock, not by that of its acceptor."""
    live.send(otp())
    (job,) = receive(service, live)
    wrong = wiring.utc_now() - timedelta(minutes=30 - minutes)
    body = json.loads(job["body"]) | {"id": str(uuid4()), "queued_at": wrong.isoformat()}
    record = queue_record(json.dumps(body), receipt=job["receiptHandle"])
    record["eventSourceARN"] = job["eventSourceARN"]
    sent = wiring.utc_now() - timedelta(minutes=minutes)
    record["attributes"]["SentTimestamp"] = str(round(sent.timestamp() * 1000))
    assert work([received_again(record, timedelta(minutes=receives - 1), receives)]) == kept
    assert work([job]) == []


@pytest.mark.parametrize("resent", [True, False])
def test_only_a_repeated_hand_over_is_counted_as_one(
    service: Service, live: Api, capsys: pytest.CaptureFixture[str], *, resent: bool
) -> None:
    """The metric of uncertain mail that was sent again counts such mail and no other."""
    delivery = mock.Mock()
    delivery.within.return_value = delivery
    delivery.deliver.return_value = DeliveryResult(Outcome.SENT, resent=resent)
    live.send(otp())
    with mock.patch.dict(vars(wiring.services()), delivery=delivery):
        assert work(receive(service, live)) == []
    assert ("ambiguous_resend" in capsys.readouterr().out) is resent


def is_late(
    service: Service, job: dict[str, Any], after: timedelta, capsys: pytest.CaptureFixture[str]
) -> bool:
    """Return whether a job that stays in the queue some time after its acceptance counts as late.

    SQS leaves a message out of its own metric from the third receipt on.
    """
    with service.at(wiring.utc_now() + after):
        assert work([job]) == [job["messageId"]]
    return '"late"' in capsys.readouterr().out


def test_mail_that_ses_does_not_take_is_late_after_a_time(
    service: Service, live: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    """An alarm counts it: a code after a minute and other mail after an hour, if SES stops."""
    service.ses.failure = THROTTLED
    minute = timedelta(minutes=1)
    for body, limit in ((otp(), minute), (raw_html(), 60 * minute)):
        live.send(body)
        (job,) = receive(service, live)
        for after, expected in ((0.9 * limit, False), (1.1 * limit, True)):
            assert is_late(service, job, after, capsys) is expected


def test_mail_that_cannot_even_be_tried_is_late_too(
    service: Service, live: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error of a worker keeps its job as SES does, and so does a lack of time."""
    live.send(raw_html())
    (job,) = receive(service, live)
    for error in (ServiceError("service_unavailable", "planted"), ValueError("planted")):
        delivery = mock.Mock()
        delivery.within.return_value = delivery
        delivery.deliver.side_effect = error
        with mock.patch.dict(vars(wiring.services()), delivery=delivery):
            assert not is_late(service, job, timedelta(minutes=59), capsys)
            assert is_late(service, job, timedelta(minutes=61), capsys)
    with service.at(wiring.utc_now() + timedelta(minutes=61)):
        assert work([job], EndingInvocation()) == [job["messageId"]]
    assert '"late"' in capsys.readouterr().out
    assert work([job]) == []


def test_a_held_job_is_not_in_flight(
    service: Service, account: str, api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is queued anew as it was, hidden for ten minutes, since SQS limits what is in flight.

    It is not late. If it cannot be queued, its old message stays.
    """
    api.send(raw_html())
    (job,) = receive(service, api)
    wiring.services().accounts.suspend(account, queued=QueuedMail.HOLD)
    with service.at(wiring.utc_now() + timedelta(hours=2)):
        with queueing(ServiceError("service_unavailable", "planted")):
            assert work([job]) == [job["messageId"]]
        capsys.readouterr()
        with queueing() as put:
            assert work([job]) == []
    assert '"late"' not in capsys.readouterr().out
    (sent,) = (call.kwargs for call in put.call_args_list)
    assert sent == {
        "QueueUrl": service.queue_url,
        "MessageBody": job["body"],
        "MessageGroupId": account,
        "DelaySeconds": 600,
    }


@contextmanager
def queueing(error: Exception | None = None) -> Iterator[mock.Mock]:
    """Let the worker's calls of SendMessage fail, or record them."""
    with mock.patch.object(wiring.services().jobs._sqs, "send_message", side_effect=error) as put:
        yield put


def test_mail_that_may_not_be_accepted_is_not_late(
    service: Service, live: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    live.send(otp())
    (job,) = receive(service, live)
    body = json.dumps(json.loads(job["body"]) | {"id": str(uuid4())})
    assert not is_late(service, job | {"body": body}, timedelta(minutes=2), capsys)


@pytest.mark.parametrize("paused", [True, False])
def test_a_pause_of_mail_to_strangers_is_counted(
    service: Service, capsys: pytest.CaptureFixture[str], *, paused: bool
) -> None:
    """The alarm counts a bounce that pauses the service's own mail, and no other bounce."""
    feedback = mock.Mock()
    result = FeedbackResult(FeedbackOutcome.CHANGED, strangers_paused=paused)
    feedback.record.return_value = [result]
    with mock.patch.dict(vars(wiring.services()), feedback=feedback):
        assert service.report({}) == []
    assert ("sending_paused" in capsys.readouterr().out) is paused


def test_the_log_says_why_email_waits(
    service: Service, live: Api, caplog: pytest.LogCaptureFixture
) -> None:
    """It has the code of SES's error, and not SES's words, which may have an address."""
    service.ses.failure = (403, "AccessDeniedException")
    live.send(otp())
    (job,) = receive(service, live)
    with mock.patch.object(service.ses, "message", "not for ann@example.com"):
        assert work([job]) == [job["messageId"]]
    line = vars(caplog.records[-1])
    assert (line["outcome"], line["aws_error"]) == ("throttled", "AccessDeniedException")
    assert "ann@example.com" not in str(line)


def test_tokens_are_taken_in_one_try(service: Service) -> None:
    """The SDK does not repeat a write to the bucket: its first try may have taken the tokens."""
    assert service.queue_url
    rate = wiring.services().delivery.rate
    assert isinstance(rate, DynamoSendingRate)
    config: Any = rate._table.client.meta.config
    assert config.retries["total_max_attempts"] == 1


@pytest.mark.parametrize("tries", [0, 1, 2])
def test_the_deadline_is_checked_at_every_try(service: Service, live: Api, tries: int) -> None:
    """A mail past its deadline fails as expired, whether it was tried before or not."""
    sent = len(service.ses.mails)
    message_id = live.send(raw_html()).json["messageId"]
    (job,) = receive(service, live)
    service.ses.failure = THROTTLED
    for _ in range(tries):
        assert work([job]) == [job["messageId"]]
    service.ses.failure = None
    with service.at(wiring.utc_now() + MAX_DELIVERY_TIME + timedelta(seconds=1)):
        assert work([job]) == []
    shown = live.get(message_id).json
    assert (shown["status"], shown["events"][-1]["code"]) == ("failed", "expired")
    assert len(service.ses.mails) == sent


@pytest.mark.parametrize("tries", [1, 3])
def test_a_body_stays_in_the_spool_until_its_mail_is_sent(
    service: Service, live: Api, tries: int
) -> None:
    sent, spooled = len(service.ses.mails), set(service.spooled())
    live.send(raw_html(html=f"<p>{'x' * 300_000}</p>"))
    (job,) = receive(service, live)
    service.ses.failure = THROTTLED
    for _ in range(tries):
        assert work([job]) == [job["messageId"]]
        assert len(set(service.spooled()) - spooled) == 1
    service.ses.failure = None
    assert work([job]) == []
    assert set(service.spooled()) == spooled
    assert len(service.ses.mails) == sent + 1
    assert b"x" * 60 in service.ses.mails[-1]["raw"]


@pytest.mark.parametrize(("kind", "outcome"), [("Send", "changed"), ("Open", "ignored")])
def test_the_log_of_events_counts_them(
    service: Service, live: Api, caplog: pytest.LogCaptureFixture, kind: str, outcome: str
) -> None:
    """A batch of events is one line with their number; the records say what each changed."""
    message_id = live.send(otp()).json["messageId"]
    work(receive(service, live))
    account_id = account_of_key(live.key or "")
    mail = {
        "messageId": "provider",
        "timestamp": "2026-03-14T15:09:26.535Z",
        "tags": {"account": [account_id], "message": [message_id]},
    }
    caplog.clear()
    assert service.report({"eventType": kind, "mail": mail, kind.lower(): {}}) == []
    (record,) = [vars(record) for record in caplog.records]
    assert record[outcome] == 1


@pytest.mark.parametrize(
    ("after", "receives", "isolated"),
    [
        (VISIBILITY, 1, False),
        (timedelta(seconds=59), 2, False),
        (timedelta(seconds=61), 2, True),
        (VISIBILITY, 2, True),
        (VISIBILITY, 50, True),
    ],
)
def test_a_job_of_a_worker_that_may_have_died_is_isolated(
    service: Service, live: Api, after: timedelta, receives: int, *, isolated: bool
) -> None:
    """Only a job that comes back after a dead worker would have kept it is built by itself."""
    live.send(otp())
    (job,) = receive(service, live)
    deliveries = {"delivery": mock.Mock(), "isolated_delivery": mock.Mock()}
    for delivery in deliveries.values():
        delivery.within.return_value = delivery
        delivery.deliver.return_value = DeliveryResult(Outcome.SENT)
    with mock.patch.dict(vars(wiring.services()), deliveries):
        assert work([received_again(job, after, receives)]) == []
    used = deliveries["isolated_delivery" if isolated else "delivery"].deliver
    used.assert_called_once()
    assert sum(delivery.deliver.call_count for delivery in deliveries.values()) == 1


def test_a_suspect_is_given_more_time(service: Service, live: Api) -> None:
    """A build in a process of its own may take 20 s, so it starts only if they are left."""
    live.send(otp())
    suspect = received_again(receive(service, live)[0], VISIBILITY)
    assert work([suspect], EndingInvocation(milliseconds=44_999)) == [suspect["messageId"]]
    assert work([suspect], EndingInvocation(milliseconds=45_000)) == []


def test_fresh_mail_does_not_wait_behind_suspects(service: Service, live: Api) -> None:
    """Two suspects wait for nine seconds each; the fresh mail of their batch is sent before."""
    body = {"messages": [raw_html() for _ in range(4)]}
    assert live.raw("POST", "/emails/batch", body, {}).status == 200
    jobs = receive(service, live)
    batch = [received_again(job, VISIBILITY) for job in jobs[:2]] + jobs[2:]
    seconds, sent_at = [0], dict[str, list[int]]()

    def delivery(kind: str, wait: int) -> mock.Mock:
        def deliver(*_: object, **__: object) -> DeliveryResult:
            seconds[0] += wait
            sent_at.setdefault(kind, []).append(seconds[0])
            return DeliveryResult(Outcome.SENT)

        made = mock.Mock(deliver=deliver)
        made.within.return_value = made
        return made

    deliveries = {"delivery": delivery("fresh", 0), "isolated_delivery": delivery("suspect", 9)}
    with mock.patch.dict(vars(wiring.services()), deliveries):
        assert work(batch) == []
    assert sent_at == {"fresh": [0, 0], "suspect": [9, 18]}


# Python warns of forks while the threads of other tests wait. The worker has no threads.
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_a_deadly_job_harms_no_other_job(service: Service, live: Api) -> None:
    """A job that kills its builder three times is set aside; the others of its batch are sent."""

    def build(mail: Mail, message: Message, base_url: str, reply_key: bytes | None) -> bytes:
        if mail.subject == "deadly":
            os._exit(137)
        return build_raw(mail, message, base_url, reply_key)

    sent = len(service.ses.mails)
    ids = {
        subject: live.send(raw_html(subject=subject)).json["messageId"]
        for subject in ("before", "deadly", "after")
    }
    jobs = [received_again(job, VISIBILITY) for job in receive(service, live)]
    (deadly,) = (job for job in jobs if ids["deadly"] in job["body"])
    vars(wiring.services()).pop("isolated_delivery", None)
    with (
        mock.patch.object(build_message, "build_raw", build),
        mock.patch.object(consumer, "BUSY", 60),
    ):
        assert work(jobs) == [deadly["messageId"]]
        assert work([deadly]) == [deadly["messageId"]]
        assert live.get(ids["deadly"]).json["status"] == "pending"
        assert work([deadly]) == []
    vars(wiring.services()).pop("isolated_delivery", None)
    assert len(service.ses.mails) == sent + 2
    shown = {subject: live.get(message_id).json for subject, message_id in ids.items()}
    assert {subject: mail["status"] for subject, mail in shown.items()} == {
        "before": "sent",
        "deadly": "failed",
        "after": "sent",
    }
    assert shown["deadly"]["events"][-1]["code"] == "building_failed"
    assert deadly["body"] in service.dead_letters()


def test_a_worker_leaves_large_mail_to_others(service: Service, live: Api) -> None:
    for _ in range(2):
        live.send(raw_html(html=f"<p>{'x' * 300_000}</p>"))
    first, second = receive(service, live)
    sent = len(service.ses.mails)
    with mock.patch.object(consumer, "monotonic", side_effect=[0, 0, 1]):
        assert work([first, second]) == [second["messageId"]]
    assert len(service.ses.mails) == sent + 1
    assert work(receive(service, live)) == []
    assert len(service.ses.mails) == sent + 2


def test_only_small_mail_of_a_batch_is_delivered_together(service: Service, live: Api) -> None:
    """Large mail waits for the others, one at a time; what may kill the worker goes last."""
    turn = import_module("functions.deliver_message.app").turn
    live.send(otp())
    (small,) = receive(service, live)
    suspect = received_again(small, VISIBILITY)
    body = {name: value for name, value in json.loads(small["body"]).items() if name != "payload"}
    large = small | {"body": json.dumps(body | {"spool": "key"})}
    waited = small | {"body": json.dumps(body | {"due": body["queued_at"], "version": DUE_VERSION})}
    records = [SQSRecord(record) for record in (suspect, small, large, waited)]
    assert [turn(record) for record in records] == ["last", "together", "alone", "alone"]


@pytest.mark.parametrize("missing", ["hash", "deadline", "queued_at"])
def test_a_poison_job_goes_to_the_dead_letters(service: Service, live: Api, missing: str) -> None:
    """A job without a required field is kept unchanged; its message failed and is not sent."""
    sent = len(service.ses.mails)
    message_id = live.send(otp()).json["messageId"]
    (queued,) = service.jobs_of(live)
    job = json.loads(queued["body"])
    del job[missing]
    assert work([queue_record(json.dumps(job))]) == []
    assert service.dead_letters() == [json.dumps(job)]
    shown = live.get(message_id).json
    assert (shown["status"], shown["events"][-1]["code"]) == ("failed", "unreadable_job")
    assert len(service.ses.mails) == sent


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"version": 1}', '{"version": "1"}'])
def test_a_job_without_a_message_id_goes_to_the_dead_letters(service: Service, text: str) -> None:
    assert work([queue_record(text)]) == []
    assert service.dead_letters() == [text]


@pytest.mark.parametrize(
    ("receives", "least", "most"),
    [(1, 1, 2), (2, 2, 4), (5, 16, 32), (8, 90, 90), (900, 90, 90)],
)
def test_a_job_that_fails_is_received_again_soon(
    service: Service, live: Api, receives: int, least: float, most: float
) -> None:
    """A failure before the hand-over costs seconds. The wait doubles up to 90 seconds."""
    live.send(otp())
    (job,) = service.jobs_of(live)
    failing = mock.Mock(side_effect=Unavailable("data store"))
    record = queue_record(job["body"], receipt="here", receives=receives)
    with (
        mock.patch.multiple(DynamoMessages, peek=failing, get=failing),
        mock.patch.object(SqsJobs, "postpone") as postpone,
    ):
        assert work([record]) == ["1"]
    _, receipt, wait = postpone.call_args.args
    assert receipt == "here"
    assert timedelta(seconds=least) <= wait <= timedelta(seconds=most)
