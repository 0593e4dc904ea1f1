"""Uploaded files in the bucket of the spool: their signed requests, and their bytes.

Keys are `<account>/<upload id>/upload`, between those of the account's spooled emails. So nobody
finds the file of another account, and the sweep finds all (adapters/s3_spool.py).
"""

import base64
from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote
from uuid import UUID

from botocore.config import Config
from botocore.exceptions import ClientError

from pillarbox.adapters.aws import client_of, code_of, in_parallel, service_errors
from pillarbox.application.ports import PayloadGone
from pillarbox.domain.messages.attachment import Attachment
from pillarbox.domain.messages.upload import UPLOAD_URL_TIME, UploadedFile

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

#: The last part of the keys of uploads.
NAME: Final = "upload"
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
                "Key": _key(account_id, file.upload_id),
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
        try:
            stored = self._get(account_id, upload_id, Range=_FIRST_OCTETS)
        except ClientError as error:
            if code_of(error) in _ABSENT:
                return None
            raise
        metadata = stored["Metadata"]
        return UploadedFile(
            upload_id=upload_id,
            filename=unquote(metadata["filename"]),
            content_type=stored["ContentType"],
            size=int(stored["ContentRange"].rpartition("/")[2]),
            sha256=metadata["sha256"],
            first_octets=stored["octets"],
        )

    def load(self, account_id: str, file: UploadedFile) -> Attachment:
        """Return a file with its bytes, whose hash is checked again.

        Raises:
            PayloadGone: it is not there any more, or has other bytes.
        """
        try:
            octets: bytes = self._get(account_id, file.upload_id)["octets"]
        except ClientError as error:
            # AccessDenied is a wrong policy, since the worker has ListBucket: the email waits.
            if code_of(error) == _NO_SUCH_KEY:
                raise PayloadGone from error
            raise
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
                Bucket=self._bucket, Key=_key(account_id, upload_id), **options
            )
            return {**stored, "octets": stored["Body"].read()}


def _key(account_id: str, upload_id: UUID) -> str:
    return f"{account_id}/{upload_id}/{NAME}"
