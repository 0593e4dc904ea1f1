"""What S3 holds in the bucket of the spool: large emails, uploads, kept content, received mail.

Keys are `<account>/<upload id>/upload`, between those of the account's spooled emails. So no
account finds a file of another one, and the sweep finds all.

Keys are `kept/<days>/<account>/<day>/<message id>.eml`. A rule of the bucket for each number of
days deletes the objects, which needs no tags and no request. No account finds content of another
one, because the account is that of the caller.

SES stores a mail under `received/<domain>/`. What a record needs is then under
`answers/<days>/<account>/<day>/<received id>/`, and a rule of the bucket for each number of days
deletes it.
"""

import base64
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import product
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote
from uuid import UUID

from botocore.config import Config
from botocore.exceptions import ClientError

from pillarbox.adapters.aws import (
    client_of,
    ignoring,
    in_parallel,
    make_client,
    service_errors,
)
from pillarbox.adapters.direct import CallLimits
from pillarbox.application.delivery.ports import SpoolObject
from pillarbox.application.message_log import ScanPage
from pillarbox.application.ports import PayloadGone
from pillarbox.application.receiving_ports import RECEIVED, StoredRaw
from pillarbox.domain.ids import is_uuid
from pillarbox.domain.messages.attachment import Attachment
from pillarbox.domain.messages.kept import CLASSES, KeptContent
from pillarbox.domain.messages.upload import UPLOAD_LIFE, UPLOAD_URL_TIME, UploadedFile
from pillarbox.domain.replies import CalendarAnswer, ReceivedContent, ReceivedMail

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_SPOOL: Final = "spool"
#: The end of the keys of uploaded files.
_UPLOAD: Final = "/upload"
#: The start of the keys of kept content, which no sweep needs to delete.
KEPT: Final = "kept/"
#: The start of the keys of received mail.
ANSWERS: Final = "answers/"


def delete_objects(s3: "S3Client", bucket: str, keys: Sequence[str]) -> None:
    """Delete up to a thousand objects; S3 answers with 200 also if it may delete none."""
    objects: Any = [{"Key": key} for key in keys]
    refused = s3.delete_objects(Bucket=bucket, Delete={"Objects": objects, "Quiet": True})
    for error in refused.get("Errors", ()):
        raise ClientError({"Error": error}, "DeleteObjects")


class S3Spool:
    """Implements `delivery.ports.Spool`. Keys are `<account>/<message id>/<token>`.

    Those of uploaded files have the id of the upload in the middle, and end with `/upload`.
    """

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket
        # Each pass of the sweep needs it.
        self._s3: S3Client = make_client("s3")

    def account_ids(self) -> Iterator[str]:
        """List the first parts of the keys; one request returns up to 1,000 of them."""
        request: Any = {"Bucket": self._bucket, "Delimiter": "/"}
        with service_errors(_SPOOL):
            while request:
                page = self._s3.list_objects_v2(**request)
                for part in page.get("CommonPrefixes", ()):
                    if part["Prefix"] not in {KEPT, ANSWERS, RECEIVED}:
                        yield part["Prefix"].removesuffix("/")
                token = page.get("NextContinuationToken")
                request = token and request | {"ContinuationToken": token}

    def put_before(
        self, account_id: str, moment: datetime, cursor: str | None
    ) -> ScanPage[SpoolObject]:
        """List up to 1,000 of an account's objects; the cursor is the last key before them.

        An uploaded file is listed once no email can have it any more.
        """
        request: Any = {"Bucket": self._bucket, "Prefix": f"{account_id}/"}
        if cursor is not None:
            request["StartAfter"] = cursor
        with service_errors(_SPOOL):
            page = self._s3.list_objects_v2(**request)
        listed = page.get("Contents", [])
        spooled = []
        for stored in listed:
            message_id = stored["Key"].split("/")[1]
            is_upload = stored["Key"].endswith(_UPLOAD)
            until = moment - UPLOAD_LIFE if is_upload else moment
            if stored["LastModified"] < until and is_uuid(message_id):
                identifier = None if is_upload else UUID(message_id)
                spooled.append(SpoolObject(stored["Key"], account_id, identifier))
        return ScanPage(spooled, listed[-1]["Key"] if page["IsTruncated"] else None)

    def delete(self, key: str) -> None:
        with service_errors(_SPOOL):
            self._s3.delete_object(Bucket=self._bucket, Key=key)


_NO_SUCH_KEY: Final = "NoSuchKey"
#: What S3 answers for an object that does not exist; the second one without ListBucket, which
#: functions that accept emails do not have.
_ABSENT: Final = (_NO_SUCH_KEY, "AccessDenied")
#: As many as tell a program from other files.
_FIRST_OCTETS: Final = "bytes=0-5"
#: The SDK's default for signed URLs is the global host name, which redirects other regions.
_REGIONAL: Final = Config(
    signature_version="s3v4",
    s3={"addressing_style": "virtual"},
    connect_timeout=1,
    read_timeout=3,
    retries={"mode": "standard", "total_max_attempts": 3},
)


class S3Uploads:
    """Implements `sending.uploads.UploadSigner`, and finds and reads the files."""

    _s3: "S3Client" = client_of("s3", _REGIONAL)

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    def sign(self, account_id: str, file: UploadedFile) -> tuple[str, Mapping[str, str]]:
        """Sign a PUT with type, size, hash and name in its headers: S3 refuses any other.

        S3 compares the hash with the bytes that arrive (x-amz-checksum-sha256).
        """
        digest = base64.b64encode(bytes.fromhex(file.sha256)).decode()
        metadata = {"filename": quote(file.filename, safe=""), "sha256": file.sha256}
        url = self._s3.generate_presigned_url(
            "put_object",
            Params={
                "Bucket": self._bucket,
                "Key": _upload_key(account_id, file.upload_id),
                "ContentType": file.content_type,
                "ContentLength": file.size,
                "ChecksumSHA256": digest,
                "Metadata": metadata,
            },
            ExpiresIn=int(UPLOAD_URL_TIME.total_seconds()),
        )
        return url, {
            "Content-Type": file.content_type,
            "Content-Length": str(file.size),
            "x-amz-checksum-sha256": digest,
            **{f"x-amz-meta-{name}": value for name, value in metadata.items()},
        }

    def find(self, account_id: str, upload_ids: Collection[UUID]) -> Mapping[UUID, UploadedFile]:
        """Return those of an account's uploads that exist, with their first octets."""

        def read(upload_id: UUID) -> UploadedFile | None:
            return self._describe(account_id, upload_id)

        found = in_parallel(read, [*upload_ids])
        return {file.upload_id: file for file in found if file is not None}

    def _describe(self, account_id: str, upload_id: UUID) -> UploadedFile | None:
        with ignoring(*_ABSENT):
            stored = self._get(account_id, upload_id, Range=_FIRST_OCTETS)
            metadata = stored["Metadata"]
            return UploadedFile(
                upload_id=upload_id,
                filename=unquote(metadata["filename"]),
                content_type=stored["ContentType"],
                size=int(stored["ContentRange"].rpartition("/")[2]),
                sha256=metadata["sha256"],
                first_octets=stored["octets"],
            )
        return None

    def load(self, account_id: str, file: UploadedFile) -> Attachment:
        """Return a file with its bytes, whose hash is checked again."""
        octets = b""
        # AccessDenied is a wrong policy, since the worker has ListBucket: the email waits.
        with ignoring(_NO_SUCH_KEY):
            octets = self._get(account_id, file.upload_id)["octets"]
        if sha256(octets).hexdigest() != file.sha256:
            raise PayloadGone
        return Attachment(
            filename=file.filename,
            content_type=file.content_type,
            content=base64.b64encode(octets).decode(),
            inline=file.inline,
            content_id=file.content_id,
        )

    def _get(self, account_id: str, upload_id: UUID, **options: Any) -> dict[str, Any]:  # noqa: ANN401  as the SDK
        """Get an object; `octets` has its bytes."""
        with service_errors("uploads"):
            stored = self._s3.get_object(
                Bucket=self._bucket, Key=_upload_key(account_id, upload_id), **options
            )
            return {**stored, "octets": stored["Body"].read()}


def _upload_key(account_id: str, upload_id: UUID) -> str:
    return f"{account_id}/{upload_id}{_UPLOAD}"


_CONTENT: Final = "kept content"
#: The worker has other emails to deliver, so a write has two short tries: the second one because
#: the connection of a worker that was frozen may be closed without its knowledge.
_SHORT_TRIES: Final = CallLimits(connect_timeout=1, read_timeout=1.5, attempts=2)
#: For the same reason as `_REGIONAL`, with the usual limits.
_SIGNING: Final = Config(signature_version="s3v4", s3={"addressing_style": "virtual"})


class S3KeptContents:
    """Implements `application.kept.KeptContents`, and writes them for the worker."""

    _s3: "S3Client" = client_of("s3")
    _writer: "S3Client" = client_of("s3", _SHORT_TRIES)
    _signer: "S3Client" = client_of("s3", _SIGNING)

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    def put(self, content: KeptContent, octets: bytes) -> None:
        """Write a message as it was handed over, within few seconds."""
        with service_errors(_CONTENT):
            self._writer.put_object(Bucket=self._bucket, Key=_content_key(content), Body=octets)

    def get(self, content: KeptContent) -> bytes | None:
        with service_errors(_CONTENT), ignoring(*_ABSENT):
            stored = self._s3.get_object(Bucket=self._bucket, Key=_content_key(content))
            return stored["Body"].read()
        return None

    def sign(self, content: KeptContent, life: timedelta) -> str:
        return self._signer.generate_presigned_url(
            "get_object",
            Params={
                "Bucket": self._bucket,
                "Key": _content_key(content),
                "ResponseContentType": "message/rfc822",
                "ResponseContentDisposition": f'attachment; filename="{content.message_id}.eml"',
            },
            ExpiresIn=int(life.total_seconds()),
        )

    def remove(self, content: KeptContent) -> None:
        with service_errors(_CONTENT):
            self._s3.delete_object(Bucket=self._bucket, Key=_content_key(content))

    def remove_all(self, account_id: str) -> Iterator[int]:
        """Delete all that is kept of an account, and yield the number after each request."""
        for start, days in product((KEPT, ANSWERS), CLASSES):
            with service_errors(_CONTENT):
                pages = self._s3.get_paginator("list_objects_v2").paginate(
                    Bucket=self._bucket, Prefix=f"{start}{days}/{account_id}/"
                )
                for page in pages:
                    if listed := [one["Key"] for one in page.get("Contents", [])]:
                        delete_objects(self._s3, self._bucket, listed)
                        yield len(listed)


def _content_key(content: KeptContent) -> str:
    day = content.day.isoformat()
    return f"{KEPT}{content.days}/{content.account_id}/{day}/{content.message_id}.eml"


_MAIL: Final = "received mail"
_RAW: Final = "mail.eml"
_TEXTS: Final = "content.json"


class S3Received:
    """Implements `ports.ReceivedObjects`."""

    _s3: "S3Client" = client_of("s3")
    _signer: "S3Client" = client_of("s3", _SIGNING)

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    def get(self, key: str) -> StoredRaw | None:
        stored = self._read(key)
        return StoredRaw(stored["Body"].read(), stored["LastModified"]) if stored else None

    def save(
        self,
        mail: ReceivedMail,
        octets: bytes,
        content: ReceivedContent,
        files: Iterable[tuple[str, bytes]],
    ) -> None:
        """Write the objects; the same ones if it is repeated."""
        text = json.dumps(asdict(content)).encode()
        named = ((f"file-{number}", kind, file) for number, (kind, file) in enumerate(files))
        objects = [(_RAW, "message/rfc822", octets), (_TEXTS, "application/json", text), *named]
        for name, kind, body in objects:
            with service_errors(_MAIL):
                self._s3.put_object(
                    Bucket=self._bucket, Key=_mail_key(mail, name), Body=body, ContentType=kind
                )

    def delete(self, key: str) -> None:
        with service_errors(_MAIL):
            self._s3.delete_object(Bucket=self._bucket, Key=key)

    def remove(self, mail: ReceivedMail) -> None:
        names = [_RAW, _TEXTS, *(f"file-{number}" for number in range(len(mail.files)))]
        with service_errors(_MAIL):
            delete_objects(self._s3, self._bucket, [_mail_key(mail, name) for name in names])

    def content(self, mail: ReceivedMail) -> ReceivedContent | None:
        stored = self._read(_mail_key(mail, _TEXTS))
        if stored is None:
            return None
        fields = json.loads(stored["Body"].read())
        calendar = tuple(CalendarAnswer(**one) for one in fields.pop("calendar"))
        return ReceivedContent(**fields, calendar=calendar)

    def file(self, mail: ReceivedMail, number: int) -> bytes | None:
        stored = self._read(_mail_key(mail, f"file-{number}"))
        return stored["Body"].read() if stored else None

    def sign(self, mail: ReceivedMail, file: int | None, life: timedelta) -> str:
        """Return a URL that downloads an object, and never shows it as a page."""
        name = _RAW if file is None else f"file-{file}"
        shown = f"{mail.received_id}.eml" if file is None else mail.files[file].filename or name
        return self._signer.generate_presigned_url(
            "get_object",
            Params={
                "Bucket": self._bucket,
                "Key": _mail_key(mail, name),
                "ResponseContentType": "message/rfc822" if file is None else _BINARY,
                "ResponseContentDisposition": f"attachment; filename*=UTF-8''{quote(shown)}",
            },
            ExpiresIn=int(life.total_seconds()),
        )

    def _read(self, key: str) -> Any:  # noqa: ANN401  as the SDK
        # AccessDenied is a wrong policy, since each reader has ListBucket: the mail waits.
        with service_errors(_MAIL), ignoring(_NO_SUCH_KEY):
            return self._s3.get_object(Bucket=self._bucket, Key=key)
        return None


#: The sender of a file chose its type, which a browser must not believe.
_BINARY: Final = "application/octet-stream"


def _mail_key(mail: ReceivedMail, name: str) -> str:
    day = mail.received_at.date().isoformat()
    return f"{ANSWERS}{mail.bucket_days}/{mail.account_id}/{day}/{mail.received_id}/{name}"
