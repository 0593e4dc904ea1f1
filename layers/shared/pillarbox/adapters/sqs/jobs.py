"""The queue of jobs, and the spool for emails that are too large for the queue."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cached_property
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Final
from uuid import UUID

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import code_of, in_parallel, make_client, service_errors
from pillarbox.adapters.sqs.job_format import (
    fits_inline,
    read_job,
    read_payload,
    write_job,
    write_payload,
    write_result,
)
from pillarbox.application.ports import PayloadGone
from pillarbox.domain.ids import new_token
from pillarbox.domain.mail import HandOverResult, Job, Mail

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

#: SQS keeps a message invisible for at most 12 hours from its receipt.
_MAX_VISIBILITY: Final = timedelta(hours=11)
#: SQS accepts ten messages and 1 MiB in one request; jobs are ASCII.
_MAX_ENTRIES: Final = 10
_MAX_REQUEST_BYTES: Final = 1_000_000


class SqsJobs:
    """Implements `ports.Jobs`, and reads jobs for the worker."""

    def __init__(self, queue_url: str, bucket: str) -> None:
        self._queue_url = queue_url
        self._bucket = bucket

    @cached_property
    def _sqs(self) -> "SQSClient":
        client: SQSClient = make_client("sqs")
        return client

    @cached_property
    def _s3(self) -> "S3Client":
        client: S3Client = make_client("s3")
        return client

    def put(self, job: Job, mail: Mail) -> None:
        """Queue a job with its email or with the key of the email in the spool."""
        text = self._text(job, mail)
        with service_errors("queue"):
            self._sqs.send_message(QueueUrl=self._queue_url, MessageBody=text)

    def put_result(self, job: Job, result: HandOverResult) -> None:
        """Queue a job that only records a result."""
        with service_errors("queue"):
            self._sqs.send_message(QueueUrl=self._queue_url, MessageBody=write_result(job, result))

    def put_all(self, jobs: Sequence[tuple[Job, Mail]]) -> frozenset[UUID]:
        """Queue jobs in batches of up to ten that fit into one request."""
        entries = [(str(job.message_id), self._text(job, mail)) for job, mail in jobs]
        failed_ids = in_parallel(self._send_batch, list(_batches(entries)))
        return frozenset(map(UUID, chain.from_iterable(failed_ids)))

    def _send_batch(self, entries: Sequence[tuple[str, str]]) -> list[str]:
        """Send jobs in one request and return the ids of those that SQS did not accept."""
        with service_errors("queue"):
            response = self._sqs.send_message_batch(
                QueueUrl=self._queue_url,
                Entries=[{"Id": entry_id, "MessageBody": text} for entry_id, text in entries],
            )
        return [failure["Id"] for failure in response.get("Failed", ())]

    def _text(self, job: Job, mail: Mail) -> str:
        payload = write_payload(mail)
        if fits_inline(payload):
            return write_job(job, payload=payload)
        # Each try has its own key, so the clean-up of one try does not affect the others.
        key = f"{job.account_id}/{job.message_id}/{new_token(16)}"
        with service_errors("spool"):
            self._s3.put_object(Bucket=self._bucket, Key=key, Body=payload)
        return write_job(job, spool_key=key)

    def read(self, text: str) -> Job:
        """Read the job in a message of the queue.

        Raises:
            UnreadableJob: the text is not a job of a version that this worker knows.
        """
        return read_job(text)

    def load(self, job: Job) -> Mail:
        """Return the email from the job or from the spool."""
        if job.mail is not None:
            return job.mail
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

    def postpone(self, receipt_handle: str, wait: timedelta) -> None:
        """Make a received job visible again after a wait, rounded up to whole seconds.

        If the wait were rounded down, the job would be received several times in the last
        fraction of a second, and each receipt counts towards the dead-letter queue.
        """
        with service_errors("queue"):
            self._sqs.change_message_visibility(
                QueueUrl=self._queue_url,
                ReceiptHandle=receipt_handle,
                VisibilityTimeout=ceil(min(wait, _MAX_VISIBILITY).total_seconds()),
            )


def _batches(entries: Sequence[tuple[str, str]]) -> Iterator[Sequence[tuple[str, str]]]:
    """Split entries into batches that fit into one request."""
    batch: list[tuple[str, str]] = []
    size = 0
    for entry in entries:
        if batch and (len(batch) == _MAX_ENTRIES or size + len(entry[1]) > _MAX_REQUEST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += len(entry[1])
    if batch:
        yield batch
