"""The queue of jobs, and the spool for mails that are too large for it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from botocore.exceptions import ClientError

from pillarbox.adapters.aws import code_of, in_parallel, make_client, reaching
from pillarbox.application.ports import PayloadGone, UnreadableJob
from pillarbox.domain.attachment import Attachment
from pillarbox.domain.identity import is_uuid, new_token
from pillarbox.domain.mail import Body, HtmlBody, Job, Mail, RawBody, SavedBody, StarterBody

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

#: The form of a job. A worker takes this one and those before it.
VERSION: Final = 1
#: SQS takes 1 MiB, but bills by 64 KB: from here on the spool is cheaper.
MAX_INLINE_BYTES: Final = 200_000

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
        with reaching("queue"):
            self._sqs.send_message(QueueUrl=self._queue_url, MessageBody=text)

    def put_all(self, jobs: Sequence[tuple[Job, Mail]]) -> frozenset[UUID]:
        """Queue jobs by tens, as far as they fit into one request."""
        entries = [(str(job.message_id), self._text(job, mail)) for job, mail in jobs]
        refused = in_parallel(self._send_batch, list(_fitting(entries)))
        return frozenset(map(UUID, chain.from_iterable(refused)))

    def _send_batch(self, entries: Sequence[tuple[str, str]]) -> list[str]:
        with reaching("queue"):
            answer = self._sqs.send_message_batch(
                QueueUrl=self._queue_url,
                Entries=[{"Id": entry_id, "MessageBody": text} for entry_id, text in entries],
            )
        return [failed["Id"] for failed in answer.get("Failed", ())]

    def _text(self, job: Job, mail: Mail) -> str:
        payload = _payload(mail)
        body: dict[str, object] = {
            "version": VERSION,
            "account": job.account_id,
            "id": str(job.message_id),
            "hash": job.body_hash,
            "queued_at": job.queued_at.isoformat(),
            "deadline": job.deadline.isoformat(),
        }
        if len(payload) <= MAX_INLINE_BYTES and b"\n" not in payload:
            return f'{json.dumps(body)[:-1]}, "payload": {payload.decode()}}}'
        # A key of its own for each try: the end of one leaves the others alone.
        key = f"{job.account_id}/{job.message_id}/{new_token(16)}"
        with reaching("spool"):
            self._s3.put_object(Bucket=self._bucket, Key=key, Body=payload)
        return json.dumps(body | {"spool": key})

    def read(self, text: str) -> Job:
        """Read a job as the queue delivers it.

        Raises:
            UnreadableJob: it is none, or of a version that is not known here.
        """
        try:
            body = json.loads(text)
        except ValueError as error:
            raise UnreadableJob("no JSON") from error
        if not isinstance(body, dict) or body.get("version") != VERSION:
            raise _unreadable(body)
        try:
            return Job(
                account_id=body["account"],
                message_id=UUID(body["id"]),
                body_hash=body["hash"],
                queued_at=datetime.fromisoformat(body["queued_at"]),
                deadline=datetime.fromisoformat(body["deadline"]),
                mail=_mail_of(body["payload"]) if "payload" in body else None,
                spool_key=body.get("spool"),
            )
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise _unreadable(body) from error

    def load(self, job: Job) -> Mail:
        """Give the mail that came with the job or lies in the spool."""
        if job.mail is not None:
            return job.mail
        if job.spool_key is None:
            raise PayloadGone
        try:
            with reaching("spool"):
                stored = self._s3.get_object(Bucket=self._bucket, Key=job.spool_key)
                payload = stored["Body"].read()
        except ClientError as error:
            if code_of(error) == "NoSuchKey":
                raise PayloadGone from error
            raise
        written, _, octets = payload.partition(b"\n")
        return _mail_of(json.loads(written), octets)

    def discard(self, job: Job) -> None:
        """Delete the spool's object, if there is one."""
        if job.spool_key is not None:
            with reaching("spool"):
                self._s3.delete_object(Bucket=self._bucket, Key=job.spool_key)

    def postpone(self, receipt_handle: str, wait: timedelta) -> None:
        """Let a received job come again after a while, in whole seconds and not before.

        Rounded down, the last fraction of a second would be waited for by receiving again
        and again, and each receipt brings the dead-letter queue nearer.
        """
        with reaching("queue"):
            self._sqs.change_message_visibility(
                QueueUrl=self._queue_url,
                ReceiptHandle=receipt_handle,
                VisibilityTimeout=ceil(min(wait, _MAX_VISIBILITY).total_seconds()),
            )


def _unreadable(body: object) -> UnreadableJob:
    """Whatever can be made out of what is no job here; every version has account and id."""
    known = body if isinstance(body, dict) else {}
    version, account_id, message_id = (known.get(name) for name in ("version", "account", "id"))
    whole = isinstance(account_id, str) and isinstance(message_id, str) and is_uuid(message_id)
    return UnreadableJob(
        "no job that is known here",
        newer=isinstance(version, int) and version > VERSION,
        account_id=account_id if whole else None,
        message_id=UUID(message_id) if whole else None,
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


def _payload(mail: Mail) -> bytes:
    """A mail as JSON on one line; behind it a large message as it is, which JSON would swell."""
    if isinstance(mail.body, RawBody) and len(mail.body.octets) > MAX_INLINE_BYTES:
        written = _mail_json(replace(mail, body=replace(mail.body, octets=b"")))
        return b"\n".join((json.dumps(written).encode(), mail.body.octets))
    return json.dumps(_mail_json(mail), separators=(",", ":")).encode()


def _mail_json(mail: Mail) -> dict[str, object]:
    written = {
        "from": mail.sender,
        "from_name": mail.from_name,
        "to": mail.to,
        "cc": mail.cc,
        "bcc": mail.bcc,
        "reply_to": mail.reply_to,
        "subject": mail.subject,
        "body": _body_json(mail.body),
        "attachments": [
            {
                "filename": attachment.filename,
                "type": attachment.content_type,
                "content": attachment.content,
                "content_id": attachment.content_id,
            }
            for attachment in mail.attachments
        ],
    }
    return {name: value for name, value in written.items() if value not in (None, (), [])}


def _body_json(body: Body) -> dict[str, object]:
    match body:
        case StarterBody():
            return {
                "starter": body.slug,
                "values": body.values,
                "brand_name": body.brand_name,
                "logo_url": body.logo_url,
                "attribution": body.attribution,
            }
        case SavedBody():
            return {"source": body.source, "values": body.values}
        case HtmlBody():
            return {"html": body.html}
        case RawBody():
            # Each octet is the character of that number, most of them ASCII.
            return {
                "raw": body.octets.decode("latin-1"),
                "message_id": body.has_message_id,
                "date": body.has_date,
            }


def _mail_of(written: Mapping[str, Any], octets: bytes = b"") -> Mail:
    return Mail(
        sender=written["from"],
        from_name=written.get("from_name"),
        to=tuple(written.get("to", ())),
        cc=tuple(written.get("cc", ())),
        bcc=tuple(written.get("bcc", ())),
        reply_to=written.get("reply_to"),
        subject=written.get("subject", ""),
        body=_body_of(written["body"], octets),
        attachments=tuple(map(_attachment_of, written.get("attachments", ()))),
    )


def _body_of(written: Mapping[str, Any], octets: bytes) -> Body:
    if "starter" in written:
        return StarterBody(
            slug=written["starter"],
            values=written["values"],
            brand_name=written["brand_name"],
            logo_url=written["logo_url"],
            attribution=written["attribution"],
        )
    if "source" in written:
        return SavedBody(source=written["source"], values=written["values"])
    if "raw" in written:
        return RawBody(
            octets=octets or written["raw"].encode("latin-1"),
            has_message_id=written["message_id"],
            has_date=written["date"],
        )
    return HtmlBody(html=written["html"])


def _attachment_of(written: Mapping[str, Any]) -> Attachment:
    return Attachment(
        filename=written["filename"],
        content_type=written["type"],
        content=written["content"],
        inline=written["content_id"] is not None,
        content_id=written["content_id"],
    )
