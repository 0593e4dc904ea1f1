"""The two queues of jobs, and the spool for emails that are too large for a queue.

Urgent jobs have their own queue, so that no backlog is in front of them. In both queues the
account is the message group. SQS then gives the jobs of other accounts to the workers first while
one account has many in flight ("fair queues"). It promises no order, as in any standard queue.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import client_of, code_of, in_parallel, service_errors
from pillarbox.adapters.sqs.batches import MAX_ENTRIES, send_all, send_batch
from pillarbox.adapters.sqs.job_format import (
    DUE_VERSION,
    UPLOADS_VERSION,
    VERSION,
    fits_inline,
    read_job,
    read_payload,
    write_job,
    write_payload,
    write_result,
)
from pillarbox.application.ports import PayloadGone
from pillarbox.domain.ids import new_token
from pillarbox.domain.messages.mail import HandOverResult, Job, Mail

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

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
        """Queue a job with its email or with the key of the email in the spool."""
        text = self._text(job, mail)
        with service_errors("queue"):
            self._sqs.send_message(
                QueueUrl=self._queue_of(job), MessageBody=text, MessageGroupId=job.account_id
            )

    def put_result(self, job: Job, result: HandOverResult) -> None:
        """Queue a job that only records a result."""
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
        for urgent in (False, True):
            entries: list[SendMessageBatchRequestEntryTypeDef] = [
                {
                    "Id": str(number),
                    "MessageBody": write_job(job, DUE_VERSION),
                    "MessageGroupId": job.account_id,
                    "DelaySeconds": delay,
                }
                for number, (job, delay) in enumerate(delays)
                if (job.urgent and delay < LONG_HIDDEN) is urgent
            ]
            if entries:
                queue_url = self._urgent_queue_url if urgent else self._queue_url
                send_all(self._sqs, queue_url, entries)

    def _queue_of(self, job: Job) -> str:
        return self._urgent_queue_url if job.urgent else self._queue_url

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

    def read(self, text: str) -> Job:
        """Read the job in a message of the queue.

        Raises:
            UnreadableJob: the text is not a job of a version that this worker knows.
        """
        return read_job(text)

    def load(self, job: Job) -> Mail:
        """Return the email from the job or from the spool, with its uploaded files."""
        mail = job.mail or self._load_spooled(job)
        if not mail.uploads:
            return mail
        from pillarbox.adapters.s3_uploads import S3Uploads  # noqa: PLC0415  few emails have one

        uploads = S3Uploads(self._bucket)
        files = tuple(uploads.load(job.account_id, file) for file in mail.uploads)
        return replace(mail, attachments=mail.attachments + files, uploads=())

    def _load_spooled(self, job: Job) -> Mail:
        if job.spool_key is None:
            raise PayloadGone
        try:
            with service_errors("spool"):
                stored = self._s3.get_object(Bucket=self._bucket, Key=job.spool_key)
                payload = stored["Body"].read()
        except ClientError as error:
            if code_of(error) == "NoSuchKey":
                raise PayloadGone from error
            raise
        return read_payload(payload)

    def discard(self, job: Job) -> None:
        """Delete the object in the spool, if the job has one."""
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
