"""The spool for the sweeper: its objects with their ages."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pillarbox.adapters.aws import client_of, service_errors
from pillarbox.application.delivery.ports import SpoolObject
from pillarbox.application.message_log import ScanPage
from pillarbox.domain.ids import is_uuid
from pillarbox.domain.messages.upload import UPLOAD_LIFE

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_NAME: Final = "spool"
#: The end of the keys of uploaded files (adapters/s3_uploads.py).
_UPLOAD: Final = "/upload"
#: The start of the keys of kept content (adapters/s3_kept.py), which no sweep needs to delete.
KEPT: Final = "kept/"


class S3Spool:
    """Implements `delivery.ports.Spool`. Keys are `<account>/<message id>/<token>`.

    Those of uploaded files have the id of the upload in the middle, and end with `/upload`.
    """

    _s3: "S3Client" = client_of("s3")

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    def account_ids(self) -> Iterator[str]:
        """List the first parts of the keys; one request returns up to 1,000 of them."""
        with service_errors(_NAME):
            pages = self._s3.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Delimiter="/"
            )
            for page in pages:
                for part in page.get("CommonPrefixes", ()):
                    if part["Prefix"] != KEPT:
                        yield part["Prefix"].removesuffix("/")

    def put_before(
        self, account_id: str, moment: datetime, cursor: str | None
    ) -> ScanPage[SpoolObject]:
        """List up to 1,000 of an account's objects; the cursor is the last key before them.

        An uploaded file is listed once no email can have it any more.
        """
        request: Any = {"Bucket": self._bucket, "Prefix": f"{account_id}/"}
        if cursor is not None:
            request["StartAfter"] = cursor
        with service_errors(_NAME):
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
        """Delete an object, if it still exists."""
        with service_errors(_NAME):
            self._s3.delete_object(Bucket=self._bucket, Key=key)
