"""The queue of jobs and the spool: `ports.Jobs`."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest import mock

import boto3
import pytest
from botocore.exceptions import ClientError

from pillarbox.adapters.s3 import S3Uploads
from pillarbox.adapters.sqs.jobs import SqsJobs
from pillarbox.application.ports import PayloadGone, UnreadableJob
from pillarbox.domain.errors import Unavailable
from pillarbox.domain.ids import new_id
from pillarbox.domain.messages.attachment import Attachment
from pillarbox.domain.messages.mail import (
    HandOverResult,
    HtmlBody,
    Mail,
    SavedBody,
    StarterBody,
)
from pillarbox.domain.messages.message import EventKind
from tests.aws import Aws
from tests.fakes import builders
from tests.fakes.builders import attachment, event, mail
from tests.ports.implementations import Ports
from tests.refusals import refusal

MAX_INLINE_BYTES = 200_000

JOB = builders.job(builders.message(), mail=None)
URGENT = replace(JOB, deadline=JOB.queued_at + timedelta(hours=1))
LARGE = Attachment("large.bin", "text/plain", "QUJD" * 100_000)
MAILS = {
    "html": mail(),
    "full": mail(
        from_name='Ü "x" <e@x>',
        cc=("c@example.com",),
        bcc=("d@example.com", "e@example.com"),
        reply_to=("r@example.com", "s@example.com"),
        subject="日本 😀 \u2028",
        body=HtmlBody(html="<p>\x00\x0b\ufffe日本 {{ x }}</p>"),
        text="日本 {{ x }}\n",
        headers={"X-Entity-Ref-ID": "1", "X-Note": "日本"},
    ),
    "starter": mail(
        body=StarterBody(
            slug="otp",
            values={"otp_code": 482913, "nested": [1.5, None, {"a": True}]},
            brand_name=None,
            logo_url="https://x.example/l.png",
            attribution=True,
        )
    ),
    "test": mail(
        body=StarterBody(
            slug="otp",
            values={},
            brand_name="Shop",
            logo_url=None,
            attribution=False,
            is_test=True,
            accent="#0a7d5a",
        )
    ),
    "saved": mail(body=SavedBody(source="{{ a }}", values={"a": [{"b": "ü"}]})),
    "attached": mail(
        attachments=(
            attachment(),
            attachment(0, filename="empty", content_type="TEXT/CSV"),
            attachment(5, inline=True, content_id="logo@x"),
        )
    ),
    "empty": mail(from_name=None, subject="", body=HtmlBody(html=""), to=()),
    "large": mail(attachments=(LARGE,)),
}

_SENT = event(EventKind.SENT, 1.5)
_FAILED = replace(event(EventKind.FAILED, 2, "Ann@example.com"), code="rejected", reason="Nö.")
RESULTS = {
    "throttled": HandOverResult(attempt=3),
    "sent": HandOverResult(attempt=1, events=(_SENT, _FAILED), provider_message_id="0102-x"),
}


@pytest.fixture
def sqs_jobs(aws: Aws) -> SqsJobs:
    return SqsJobs(aws.queue_url, aws.urgent_queue_url, aws.bucket)


@pytest.mark.parametrize("original", MAILS.values(), ids=MAILS)
def test_a_job_keeps_its_email(ports: Ports, original: Mail) -> None:
    ports.jobs.put(JOB, original)
    (job,) = ports.receive()
    assert ports.jobs.load(job) == original
    assert replace(job, mail=None, spool_key=None) == JOB


def test_a_discarded_job_empties_the_spool(ports: Ports) -> None:
    ports.jobs.put(JOB, MAILS["large"])
    (job,) = ports.receive()
    assert (job.mail, ports.spooled()) == (None, 1)
    ports.jobs.discard(job)
    ports.jobs.discard(job)
    assert ports.spooled() == 0
    with pytest.raises(PayloadGone):
        ports.jobs.load(job)


@pytest.mark.parametrize("code", ["AccessDenied", "InvalidObjectState", "KMS.DisabledException"])
def test_a_body_that_s3_refuses_is_not_gone(aws: Aws, code: str) -> None:
    """An operator can repair a wrong policy; the email waits, and does not fail for good."""
    jobs, uploads = SqsJobs(aws.queue_url, aws.urgent_queue_url, aws.bucket), S3Uploads(aws.bucket)
    refusal = ClientError({"Error": {"Code": code, "Message": "refused"}}, "GetObject")
    for adapter in (jobs, uploads):
        vars(adapter)["_s3"] = mock.Mock(get_object=mock.Mock(side_effect=refusal))
    with pytest.raises(ClientError, match=code):
        jobs.load(replace(JOB, mail=None, spool_key="key"))
    file = mock.Mock(upload_id=JOB.message_id, sha256="0")
    with pytest.raises(ClientError, match=code):
        uploads.load(JOB.account_id, file)


def test_jobs_that_sqs_refuses_are_named(sqs_jobs: SqsJobs) -> None:
    """SQS may refuse some messages of a request; whoever sent them gets no 200."""
    jobs = [replace(JOB, message_id=new_id(JOB.queued_at)) for _ in range(12)]
    refused = {str(job.message_id) for job in jobs[3:11:4]}

    def send(*, Entries: list[dict[str, str]], **_: str) -> dict[str, Any]:  # noqa: N803
        ids = {one["Id"] for one in Entries}
        return {
            "Successful": [{"Id": name} for name in ids - refused],
            "Failed": [{"Id": name, "Code": "InternalError"} for name in ids & refused],
        }

    vars(sqs_jobs)["_sqs"] = mock.Mock(send_message_batch=send)
    assert {*map(str, sqs_jobs.put_all([(job, mail()) for job in jobs]))} == refused


def test_jobs_that_an_answer_does_not_name_count_as_refused(sqs_jobs: SqsJobs) -> None:
    jobs = [replace(JOB, message_id=new_id(JOB.queued_at)) for _ in range(12)]
    vars(sqs_jobs)["_sqs"] = mock.Mock(send_message_batch=mock.Mock(return_value={}))
    assert sqs_jobs.put_all([(job, mail()) for job in jobs]) == {job.message_id for job in jobs}
    with pytest.raises(Unavailable):
        sqs_jobs.wake_all(jobs, JOB.queued_at)


def test_each_try_has_its_own_spool_key(ports: Ports) -> None:
    """Discarding one job does not affect another job of the same message."""
    ports.jobs.put(JOB, MAILS["large"])
    ports.jobs.put(JOB, MAILS["large"])
    one, other = ports.receive()
    ports.jobs.discard(one)
    assert ports.jobs.load(other) == MAILS["large"]


def test_a_small_job_leaves_nothing_to_discard(ports: Ports) -> None:
    """A small email is in its job; a job with neither email nor spool key has no payload."""
    ports.jobs.put(JOB, mail())
    (job,) = ports.receive()
    assert ports.spooled() == 0
    ports.jobs.discard(job)
    assert ports.jobs.load(job) == mail()
    with pytest.raises(PayloadGone):
        ports.jobs.load(JOB)


@pytest.mark.parametrize("spool_key", [None, "a/b/c"])
@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_a_job_may_only_record_a_result(
    ports: Ports, result: HandOverResult, spool_key: str | None
) -> None:
    ports.jobs.put_result(replace(JOB, mail=mail(), spool_key=spool_key), result)
    (job,) = ports.receive()
    assert job == replace(JOB, spool_key=spool_key, result=result)


@pytest.mark.parametrize(("extra", "spooled"), [(0, 0), (1, 1)])
def test_only_large_emails_use_the_spool(
    sqs_jobs: SqsJobs, aws: Aws, extra: int, spooled: int
) -> None:
    frame = len(json.dumps({"html": ""}, separators=(",", ":")))
    plain = mail(from_name=None, to=(), subject="", sender="")
    around = len(json.dumps({"from": "", "subject": "", "body": {}}, separators=(",", ":"))) - len(
        "{}"
    )
    html = "x" * (MAX_INLINE_BYTES - around - frame + extra)
    sqs_jobs.put(JOB, replace(plain, body=HtmlBody(html=html)))
    stored = boto3.client("s3").list_objects_v2(Bucket=aws.bucket)["KeyCount"]
    assert stored == spooled


GOOD: dict[str, Any] = {
    "version": 1,
    "account": "a",
    "id": str(JOB.message_id),
    "hash": "h",
    "queued_at": "2026-03-14T15:09:26+00:00",
    "deadline": "2026-03-15T15:09:26+00:00",
    "payload": {"from": "a@x.example", "subject": "", "body": {"html": ""}},
}


FROM = {"from": "a@x.example", "subject": ""}
WRONG: list[dict[str, Any]] = [
    {"version": 2},
    {"version": 4},
    {"version": 5},
    {"version": "1"},
    {"version": 2, "attempt": 1, "provider_id": None, "events": {"a": 1}},
    {"version": 2, "attempt": 1, "provider_id": None, "events": [{"kind": "flown"}]},
    {"id": "x"},
    {"id": 5},
    {"queued_at": "soon"},
    {"deadline": None},
    {"payload": []},
    {"payload": "x"},
    {"payload": FROM | {"body": "html"}},
    {"payload": FROM | {"body": {}}},
    {"payload": FROM | {"body": {"html": ""}, "attachments": ["x"]}},
]
INCOMPLETE = [
    {name: value for name, value in GOOD.items() if name != missing}
    for missing in GOOD
    if missing != "payload"
]


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "[]", "1", "null", '"x"', "{}"),
        *(json.dumps(GOOD | change) for change in WRONG),
        *map(json.dumps, INCOMPLETE),
    ],
)
def test_other_text_is_unreadable(sqs_jobs: SqsJobs, text: str) -> None:
    with pytest.raises(UnreadableJob):
        sqs_jobs.read(text)


def test_a_job_of_a_later_version_is_left_to_newer_workers(sqs_jobs: SqsJobs) -> None:
    """Only such a job is `newer`, and its message is known."""
    for version, newer in ((5, True), (4, False), (0, False), ("5", False)):
        with pytest.raises(UnreadableJob) as unreadable:
            sqs_jobs.read(json.dumps(GOOD | {"version": version}))
        assert unreadable.value.newer is newer
        assert str(unreadable.value.message_id) == GOOD["id"]


@pytest.mark.parametrize("urgent", [False, True])
def test_a_job_is_postponed(sqs_jobs: SqsJobs, aws: Aws, *, urgent: bool) -> None:
    """A received job is hidden in its own queue for the wait, in whole seconds up to 12 hours."""
    sqs, url = boto3.client("sqs"), aws.urgent_queue_url if urgent else aws.queue_url
    name = url.rpartition("/")[2]
    arn, job = f"arn:aws:sqs:eu-west-1:123456789012:{name}", URGENT if urgent else JOB
    for wait in (timedelta(seconds=0.001), timedelta(hours=24)):
        sqs_jobs.put(job, mail())
        (message,) = sqs.receive_message(QueueUrl=url)["Messages"]
        sqs_jobs.postpone(arn, message["ReceiptHandle"], timedelta(0))
        (message,) = sqs.receive_message(QueueUrl=url)["Messages"]
        sqs_jobs.postpone(arn, message["ReceiptHandle"], wait)
        assert "Messages" not in sqs.receive_message(QueueUrl=url)


@pytest.mark.parametrize(("seconds", "urgent"), [(58.5, True), (60, False), (901, False)])
def test_a_job_that_is_queued_anew_is_delayed_and_not_in_flight(
    sqs_jobs: SqsJobs, aws: Aws, *, seconds: float, urgent: bool
) -> None:
    """A code that is hidden for a minute is in the ordinary queue, whose alarm allows for that."""
    url = aws.urgent_queue_url if urgent else aws.queue_url
    names: Any = ["ApproximateNumberOfMessagesDelayed", "ApproximateNumberOfMessagesNotVisible"]

    def counts() -> list[int]:
        reply = boto3.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=names)
        return [int(reply["Attributes"][name]) for name in names]

    delayed, in_flight = counts()
    sqs_jobs.put_again(URGENT, "text", timedelta(seconds=seconds))
    assert counts() == [delayed + 1, in_flight]


def queued(url: str) -> list[tuple[str, str | None]]:
    """Receive the jobs of a queue: the message id of each, and its message group."""
    messages = boto3.client("sqs").receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["MessageGroupId"]
    )
    return [
        (json.loads(message["Body"])["id"], message.get("Attributes", {}).get("MessageGroupId"))
        for message in messages.get("Messages", ())
    ]


@pytest.mark.parametrize("urgent", [False, True])
def test_a_result_is_put_into_the_queue_of_its_job(
    sqs_jobs: SqsJobs, aws: Aws, *, urgent: bool
) -> None:
    """The answer for a code does not wait behind bulk mail; its account is its message group."""
    job = URGENT if urgent else JOB
    sqs_jobs.put_result(job, HandOverResult(attempt=1))
    queues = [aws.queue_url, aws.urgent_queue_url]
    of_its_lane, other = reversed(queues) if urgent else queues
    assert queued(of_its_lane) == [(str(job.message_id), job.account_id)]
    assert queued(other) == []


@pytest.mark.parametrize("together", [False, True])
def test_a_job_is_put_into_the_queue_of_its_lane(
    sqs_jobs: SqsJobs, aws: Aws, *, together: bool
) -> None:
    """An email that expires within an hour is urgent; its account is its message group."""
    later = URGENT.deadline + timedelta(milliseconds=1)
    ordinary = replace(URGENT, message_id=new_id(later), deadline=later)
    if together:
        assert not sqs_jobs.put_all([(URGENT, mail()), (ordinary, mail())])
    else:
        for job in (URGENT, ordinary):
            sqs_jobs.put(job, mail())
    assert queued(aws.urgent_queue_url) == [(str(URGENT.message_id), URGENT.account_id)]
    assert queued(aws.queue_url) == [(str(ordinary.message_id), URGENT.account_id)]


def test_an_unreachable_queue_is_unavailable(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    del aws
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    error = refusal(SqsJobs("http://127.0.0.1:9/q", "http://127.0.0.1:9/u", "b").put, JOB, mail())
    assert (error.status, error.code) == (503, "service_unavailable")
