"""Kept content in the bucket of the spool.

Keys are `kept/<days>/<account>/<day>/<message id>.eml`. A rule of the bucket for each number of
days deletes the objects, which needs no tags and no request. Nobody finds the content of another
account, because the account is that of the caller.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from botocore.config import Config
from botocore.exceptions import ClientError

from pillarbox.adapters.aws import CallLimits, client_of, code_of, service_errors
from pillarbox.adapters.s3_spool import KEPT
from pillarbox.domain.messages.kept import CLASSES, KeptContent

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_NAME: Final = "kept content"
#: Without ListBucket, S3 answers AccessDenied for an object that does not exist.
_ABSENT: Final = ("NoSuchKey", "AccessDenied")
#: The worker has other emails to deliver, so a write has two short tries: the second one because
#: the connection of a worker that was frozen may be closed without its knowledge.
_SHORT_TRIES: Final = CallLimits(connect_timeout=1, read_timeout=1.5, attempts=2)
#: As in adapters/s3_uploads.py.
_REGIONAL: Final = Config(signature_version="s3v4", s3={"addressing_style": "virtual"})


class S3KeptContents:
    """Implements `application.kept.KeptContents`, and writes them for the worker."""

    _s3: "S3Client" = client_of("s3")
    _writer: "S3Client" = client_of("s3", _SHORT_TRIES)
    _signer: "S3Client" = client_of("s3", _REGIONAL)

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    def put(self, content: KeptContent, octets: bytes) -> None:
        """Write a message as it was handed over, within few seconds."""
        with service_errors(_NAME):
            self._writer.put_object(Bucket=self._bucket, Key=_key(content), Body=octets)

    def get(self, content: KeptContent) -> bytes | None:
        """Read a message; None if it is not there."""
        try:
            with service_errors(_NAME):
                stored = self._s3.get_object(Bucket=self._bucket, Key=_key(content))
                return stored["Body"].read()
        except ClientError as error:
            if code_of(error) in _ABSENT:
                return None
            raise

    def sign(self, content: KeptContent, life: timedelta) -> str:
        """Return a URL that downloads a message, for a while."""
        return self._signer.generate_presigned_url(
            "get_object",
            Params={
                "Bucket": self._bucket,
                "Key": _key(content),
                "ResponseContentType": "message/rfc822",
                "ResponseContentDisposition": f'attachment; filename="{content.message_id}.eml"',
            },
            ExpiresIn=int(life.total_seconds()),
        )

    def remove(self, content: KeptContent) -> None:
        """Delete a message, if it is there."""
        with service_errors(_NAME):
            self._s3.delete_object(Bucket=self._bucket, Key=_key(content))

    def remove_all(self, account_id: str) -> Iterator[int]:
        """Delete all that is kept of an account, and yield the number after each request."""
        for days in CLASSES:
            with service_errors(_NAME):
                pages = self._s3.get_paginator("list_objects_v2").paginate(
                    Bucket=self._bucket, Prefix=f"{KEPT}{days}/{account_id}/"
                )
                for page in pages:
                    listed: list[Any] = [{"Key": one["Key"]} for one in page.get("Contents", [])]
                    if listed:
                        self._s3.delete_objects(Bucket=self._bucket, Delete={"Objects": listed})
                        yield len(listed)


def _key(content: KeptContent) -> str:
    day = content.day.isoformat()
    return f"{KEPT}{content.days}/{content.account_id}/{day}/{content.message_id}.eml"
