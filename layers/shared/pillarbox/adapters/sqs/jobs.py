"""The queue of jobs, and the spool for mails that are too large for it."""

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
)
from pillarbox.application.ports import PayloadGone
from pillarbox.domain.ids import new_token
from pillarbox.domain.mail import Job, Mail

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

#: SQS: a message stays invisible for at most 12 hours from its receipt.
_MAX_VISIBILITY: Final = timedelta(hours=11)
#: SQS takes ten messages and 1 MiB in one request; jobs are ASCII.
_MAX_ENTRIES: Final = 10
_MAX_REQUEST_BYTES: Final = 1_000_000


class SqsJobs:
    """Fulfils `ports.Jobs`, and reads jobs for the worker."""

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
        """Queue a job with its mail, or with the spool's key for it."""
        text = self._text(job, mail)
        with service_errors("queue"):
            self._sqs.send_message(QueueUrl=self._queue_url, MessageBody=text)

    def put_all(self, jobs: Sequence[tuple[Job, Mail]]) -> frozenset[UUID]:
        """Queue jobs by tens, as far as they fit into one request."""
        entries = [(str(job.message_id), self._text(job, mail)) for job, mail in jobs]
        refused = in_parallel(self._send_batch, list(_fitting(entries)))
        return frozenset(map(UUID, chain.from_iterable(refused)))

    def _send_batch(self, entries: Sequence[tuple[str, str]]) -> list[str]:
        with service_errors("queue"):
            answer = self._sqs.send_message_batch(
                QueueUrl=self._queue_url,
                Entries=[{"Id": entry_id, "MessageBody": text} for entry_id, text in entries],
            )
        return [failed["Id"] for failed in answer.get("Failed", ())]

    def _text(self, job: Job, mail: Mail) -> str:
        payload = write_payload(mail)
        if fits_inline(payload):
            return write_job(job, payload=payload)
        # Each try has its own key, so that cleaning up one try leaves the others alone.
        key = f"{job.account_id}/{job.message_id}/{new_token(16)}"
        with service_errors("spool"):
            self._s3.put_object(Bucket=self._bucket, Key=key, Body=payload)
        return write_job(job, spool_key=key)

    def read(self, text: str) -> Job:
        """Read a job as the queue delivers it.

        Raises:
            UnreadableJob: the text is not a job of a version that this worker knows.
        """
        return read_job(text)

    def load(self, job: Job) -> Mail:
        """Give the mail that came with the job or lies in the spool."""
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
        """Delete the spool's object, if there is one."""
        if job.spool_key is not None:
            with service_errors("spool"):
                self._s3.delete_object(Bucket=self._bucket, Key=job.spool_key)

    def postpone(self, receipt_handle: str, wait: timedelta) -> None:
        """Let a received job come again after a while, in whole seconds and not before.

        Rounded down, the last fraction of a second would be waited for by receiving again
        and again, and each receipt brings the dead-letter queue nearer.
        """
        with service_errors("queue"):
            self._sqs.change_message_visibility(
                QueueUrl=self._queue_url,
                ReceiptHandle=receipt_handle,
                VisibilityTimeout=ceil(min(wait, _MAX_VISIBILITY).total_seconds()),
            )


def _fitting(entries: Sequence[tuple[str, str]]) -> Iterator[Sequence[tuple[str, str]]]:
    """Split entries into what one request takes."""
    part: list[tuple[str, str]] = []
    size = 0
    for entry in entries:
        if part and (len(part) == _MAX_ENTRIES or size + len(entry[1]) > _MAX_REQUEST_BYTES):
            yield part
            part, size = [], 0
        part.append(entry)
        size += len(entry[1])
    if part:
        yield part
