"""The two queues of jobs, the format of a job, and the spool for emails that are too large.

Urgent jobs have their own queue, so that no backlog is in front of them. In both queues the
account is the message group. SQS then gives the jobs of other accounts to the workers first while
one account has many in flight ("fair queues"). It promises no order, as in any standard queue.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID

from pillarbox.adapters.aws import client_of, ignoring, in_parallel, service_errors
from pillarbox.adapters.rows import TUPLE, UUID_TEXT, Codec, Column, Row, many, one_of
from pillarbox.adapters.sqs.batches import MAX_ENTRIES, send_all, send_batch
from pillarbox.application.ports import PayloadGone, UnreadableJob
from pillarbox.domain.ids import is_uuid, new_token
from pillarbox.domain.messages.attachment import Attachment
from pillarbox.domain.messages.mail import (
    Body,
    HandOverResult,
    HtmlBody,
    Job,
    Mail,
    RawBody,
    SavedBody,
    StarterBody,
    TextBody,
)
from pillarbox.domain.messages.message import Event, EventKind

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

#: The version of a job with a mail.
VERSION: Final = 1
#: The version of a job with a result. Workers from before it must not read it as a mail.
RESULT_VERSION: Final = 2
#: The version of a job whose mail names uploaded files. Workers from before it would drop them.
UPLOADS_VERSION: Final = 3
#: The version of a job whose mail waits in the table. Workers from before it cannot load it.
DUE_VERSION: Final = 4
_VERSIONS: Final = (VERSION, RESULT_VERSION, UPLOADS_VERSION, DUE_VERSION)
#: SQS accepts 1 MiB but charges for each 64 KB: above this size the spool is cheaper.
MAX_INLINE_BYTES: Final = 200_000


_TIME: Final = Codec(datetime.isoformat, datetime.fromisoformat)
_JOB: Final = Row(
    Job,
    "tenant?",
    account_id="account",
    message_id=("id", UUID_TEXT),
    body_hash="hash",
    queued_at=("queued_at", _TIME),
    deadline=("deadline", _TIME),
    due_at=("due?", _TIME),
)
_EVENT: Final = Row(
    Event,
    *("recipient?", "code?", "reason?"),
    kind=("kind", one_of(EventKind)),
    at=("at", _TIME),
)
_RESULT: Final = Row(
    HandOverResult,
    "attempt",
    provider_message_id="provider_id?",
    events=("events", many(Codec(_EVENT.write, _EVENT.read))),
)
_ATTACHMENT: Final = Row(Attachment, *("filename", "content", "content_id?"), content_type="type")


def _read_attachment(fields: Mapping[str, Any]) -> Attachment:
    return _ATTACHMENT.read(fields, inline=fields["content_id"] is not None)


@cache
def _uploads() -> Codec:
    from pillarbox.domain.messages.upload import UploadedFile  # noqa: PLC0415  few emails have one

    row = Row(
        UploadedFile,
        *("filename", "size", "sha256", "content_id?"),
        upload_id=("id", UUID_TEXT),
        content_type="type",
    )

    def read(fields: Mapping[str, Any]) -> UploadedFile:
        return row.read(fields, inline=fields["content_id"] is not None)

    return many(Codec(row.write, read))


_MAIL: Final = Row(
    Mail,
    *("from_name?", "subject", "text?", "reply_domain?"),
    sender="from",
    to=Column("to", TUPLE, absent=()),
    cc=Column("cc", TUPLE, absent=()),
    bcc=Column("bcc", TUPLE, absent=()),
    reply_to=Column("reply_to", TUPLE, absent=()),
    names=Column("names", Codec(dict, dict), absent={}),
    headers=Column("headers", Codec(dict, dict), absent={}),
    attachments=Column(
        "attachments",
        many(Codec(_ATTACHMENT.write, _read_attachment)),
        absent=(),
    ),
    uploads=Column(
        "uploads",
        Codec(lambda files: _uploads().write(files), lambda stored: _uploads().read(stored)),
        absent=(),
    ),
)
_STARTER: Final = Row(
    StarterBody,
    *("values", "brand_name?", "logo_url?", "attribution", "report?", "accent?"),
    slug="starter",
    is_test="test",
)
_SAVED: Final = Row(SavedBody, "source", "values")


def write_job(
    job: Job, version: int = VERSION, *, payload: bytes | None = None, spool_key: str | None = None
) -> str:
    """Write a job as JSON, with its payload or with the key of its payload in the spool."""
    body = _job_json(job, version)
    if payload is None:
        return json.dumps(body | {"spool": spool_key})
    return f'{json.dumps(body)[:-1]}, "payload": {payload.decode()}}}'


def write_result(job: Job, result: HandOverResult) -> str:
    """Write a job that only records a result."""
    fields = _job_json(job, RESULT_VERSION) | {"spool": job.spool_key}
    return json.dumps(fields | _RESULT.write(result))


def _job_json(job: Job, version: int) -> dict[str, object]:
    fields = _JOB.write(job)
    return {"version": version} | {k: v for k, v in fields.items() if v is not None}


def read_job(text: str) -> Job:
    try:
        body = json.loads(text)
    except ValueError as error:
        raise UnreadableJob("not JSON") from error
    if not isinstance(body, dict) or body.get("version") not in _VERSIONS:
        raise _unreadable(body)
    if body["version"] == DUE_VERSION and "due" not in body:
        raise _unreadable(body)
    try:
        return _JOB.read(
            body,
            mail=_read_mail(body["payload"]) if "payload" in body else None,
            spool_key=body.get("spool"),
            result=_RESULT.read(body) if body["version"] == RESULT_VERSION else None,
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise _unreadable(body) from error


def fits_inline(payload: bytes) -> bool:
    """Return whether a payload may be part of its job in the queue."""
    return len(payload) <= MAX_INLINE_BYTES and b"\n" not in payload


def write_payload(mail: Mail) -> bytes:
    """Write a mail as one line of JSON.

    A large raw message follows the line unchanged, because JSON would make it larger.
    """
    if isinstance(mail.body, RawBody) and len(mail.body.octets) > MAX_INLINE_BYTES:
        fields = _mail_json(replace(mail, body=replace(mail.body, octets=b"")))
        return b"\n".join((json.dumps(fields).encode(), mail.body.octets))
    return json.dumps(_mail_json(mail), separators=(",", ":")).encode()


def read_payload(payload: bytes) -> Mail:
    fields, _, octets = payload.partition(b"\n")
    return _read_mail(json.loads(fields), octets)


def load_spooled(s3: "S3Client", bucket: str, key: str) -> Mail:
    """Read a mail in the spool.

    Raises:
        PayloadGone: it is not there any more.
    """
    with service_errors("spool"), ignoring("NoSuchKey"):
        return read_payload(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
    raise PayloadGone


def _unreadable(body: object) -> UnreadableJob:
    """Return the error with the account and message id, which every version has."""
    fields = body if isinstance(body, dict) else {}
    version, account_id, message_id = (fields.get(name) for name in ("version", "account", "id"))
    valid = isinstance(account_id, str) and isinstance(message_id, str) and is_uuid(message_id)
    return UnreadableJob(
        "not a job of a known version",
        newer=isinstance(version, int) and version > _VERSIONS[-1],
        account_id=account_id if valid else None,
        message_id=UUID(message_id) if valid else None,
    )


def _mail_json(mail: Mail) -> dict[str, object]:
    fields = _MAIL.write(mail) | {"body": _body_json(mail.body)}
    return {name: value for name, value in fields.items() if value is not None}


def _body_json(body: Body) -> dict[str, object]:
    match body:
        case StarterBody():
            return _STARTER.write(body)
        case SavedBody():
            return _SAVED.write(body)
        case HtmlBody():
            return {"html": body.html}
        case TextBody():
            return {"text": True}
        case RawBody():
            # Latin-1 maps each octet to the character with its number; most are ASCII.
            return {
                "raw": body.octets.decode("latin-1"),
                "date": body.has_date,
            }


def _read_mail(fields: Mapping[str, Any], octets: bytes = b"") -> Mail:
    return _MAIL.read(fields, body=_read_body(fields["body"], octets))


def _read_body(fields: Mapping[str, Any], octets: bytes) -> Body:
    if "starter" in fields:
        return _STARTER.read(fields)
    if "source" in fields:
        return _SAVED.read(fields)
    if "raw" in fields:
        return RawBody(
            octets=octets or fields["raw"].encode("latin-1"),
            has_date=fields["date"],
        )
    return TextBody() if "text" in fields else HtmlBody(html=fields["html"])


#: SQS keeps a message invisible for at most 12 hours from its receipt.
_MAX_VISIBILITY: Final = timedelta(hours=11)
#: In seconds; SQS hides a message for at most 15 minutes.
MAX_DELAY: Final = 900
#: In seconds. A job that is hidden for so long does not go to the queue of urgent emails: AWS does
#: not say that the age of the oldest message leaves out hidden ones, and UrgentJobsBehind reads it.
LONG_HIDDEN: Final = 60
#: SQS accepts 1 MiB in one request; jobs are ASCII.
_MAX_REQUEST_BYTES: Final = 1_000_000


class SqsJobs:
    """Implements `ports.Jobs`, and reads jobs for the worker."""

    _sqs: "SQSClient" = client_of("sqs")
    _s3: "S3Client" = client_of("s3")

    def __init__(self, queue_url: str, urgent_queue_url: str, bucket: str) -> None:
        self._queue_url = queue_url
        self._urgent_queue_url = urgent_queue_url
        self._bucket = bucket

    def put(self, job: Job, mail: Mail) -> None:
        text = self._text(job, mail)
        with service_errors("queue"):
            self._sqs.send_message(
                QueueUrl=self._queue_of(job), MessageBody=text, MessageGroupId=job.account_id
            )

    def put_result(self, job: Job, result: HandOverResult) -> None:
        with service_errors("queue"):
            self._sqs.send_message(
                QueueUrl=self._queue_of(job),
                MessageBody=write_result(job, result),
                MessageGroupId=job.account_id,
            )

    def put_all(self, jobs: Sequence[tuple[Job, Mail]]) -> frozenset[UUID]:
        """Queue jobs in batches of up to ten that fit into one request."""
        entries: dict[str, list[_Entry]] = {}
        for job, mail in jobs:
            entry = _Entry(str(job.message_id), self._text(job, mail), job.account_id)
            entries.setdefault(self._queue_of(job), []).append(entry)
        batches = [(url, batch) for url in entries for batch in _batches(entries[url])]
        failed_ids = in_parallel(self._send_batch, batches)
        return frozenset(map(UUID, chain.from_iterable(failed_ids)))

    def wake_all(self, jobs: Collection[Job], now: datetime) -> None:
        """Queue jobs without content, each hidden until it is due, in batches of ten."""
        delays = [(job, _seconds_until(job.queued_at, now)) for job in jobs]
        for queue_url in (self._queue_url, self._urgent_queue_url):
            entries: list[SendMessageBatchRequestEntryTypeDef] = [
                {
                    "Id": str(number),
                    "MessageBody": write_job(job, DUE_VERSION),
                    "MessageGroupId": job.account_id,
                    "DelaySeconds": delay,
                }
                for number, (job, delay) in enumerate(delays)
                if self._queue_of(job, delay) == queue_url
            ]
            if entries:
                send_all(self._sqs, queue_url, entries)

    def put_again(self, job: Job, text: str, wait: timedelta) -> None:
        """Queue a received job anew, hidden for a wait of 15 minutes at most.

        A job that is only postponed stays in flight, and SQS allows 120,000 of these in a queue.
        """
        delay = min(ceil(wait.total_seconds()), MAX_DELAY)
        with service_errors("queue"):
            self._sqs.send_message(
                QueueUrl=self._queue_of(job, delay),
                MessageBody=text,
                MessageGroupId=job.account_id,
                DelaySeconds=delay,
            )

    def _queue_of(self, job: Job, delay: int = 0) -> str:
        is_urgent = job.urgent and delay < LONG_HIDDEN
        return self._urgent_queue_url if is_urgent else self._queue_url

    def _send_batch(self, batch: "tuple[str, Sequence[_Entry]]") -> list[str]:
        """Send jobs in one request and return the ids of those that SQS did not accept."""
        queue_url, entries = batch
        failures = send_batch(
            self._sqs,
            queue_url,
            [
                {"Id": entry.id, "MessageBody": entry.text, "MessageGroupId": entry.account_id}
                for entry in entries
            ],
        )
        return [*failures]

    def _text(self, job: Job, mail: Mail) -> str:
        payload = write_payload(mail)
        version = UPLOADS_VERSION if mail.uploads else VERSION
        if fits_inline(payload):
            return write_job(job, version, payload=payload)
        # Each try has its own key, so the clean-up of one try does not affect the others.
        key = f"{job.account_id}/{job.message_id}/{new_token(16)}"
        with service_errors("spool"):
            self._s3.put_object(Bucket=self._bucket, Key=key, Body=payload)
        return write_job(job, version, spool_key=key)

    read = staticmethod(read_job)

    def load(self, job: Job) -> Mail:
        """Return the email from the job or from the spool, with its uploaded files."""
        mail = job.mail or self._load_spooled(job)
        if not mail.uploads:
            return mail
        from pillarbox.adapters.s3 import S3Uploads  # noqa: PLC0415  few emails have one

        uploads = S3Uploads(self._bucket)
        files = tuple(uploads.load(job.account_id, file) for file in mail.uploads)
        return replace(mail, attachments=mail.attachments + files, uploads=())

    def _load_spooled(self, job: Job) -> Mail:
        if job.spool_key is None:
            raise PayloadGone
        return load_spooled(self._s3, self._bucket, job.spool_key)

    def discard(self, job: Job) -> None:
        if job.spool_key is not None:
            with service_errors("spool"):
                self._s3.delete_object(Bucket=self._bucket, Key=job.spool_key)

    def postpone(self, queue_arn: str, receipt_handle: str, wait: timedelta) -> None:
        """Make a received job visible again after a wait, rounded up to whole seconds.

        If the wait were rounded down, the job would be received several times in the last
        fraction of a second, and each receipt counts towards the dead-letter queue.
        """
        urgent = _name(queue_arn, ":") == _name(self._urgent_queue_url, "/")
        with service_errors("queue"):
            self._sqs.change_message_visibility(
                QueueUrl=self._urgent_queue_url if urgent else self._queue_url,
                ReceiptHandle=receipt_handle,
                VisibilityTimeout=ceil(min(wait, _MAX_VISIBILITY).total_seconds()),
            )


def _seconds_until(due_at: datetime, now: datetime) -> int:
    """Return how long to hide a job, rounded up so that it does not come too early."""
    return min(max(ceil((due_at - now).total_seconds()), 0), MAX_DELAY)


class _Entry(NamedTuple):
    id: str
    text: str
    account_id: str


def _name(queue: str, separator: str) -> str:
    """Return the name of a queue, the last part of its ARN and of its URL."""
    return queue.rpartition(separator)[2]


def _batches(entries: Sequence[_Entry]) -> Iterator[Sequence[_Entry]]:
    """Split entries into batches that fit into one request."""
    batch: list[_Entry] = []
    size = 0
    for entry in entries:
        if batch and (len(batch) == MAX_ENTRIES or size + len(entry.text) > _MAX_REQUEST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += len(entry.text)
    if batch:
        yield batch
