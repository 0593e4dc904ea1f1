"""The spool for the sweeper: its objects with their ages."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from pillarbox.adapters.aws import client_of, service_errors
from pillarbox.application.delivery.ports import SpoolObject
from pillarbox.application.message_log import ScanPage
from pillarbox.domain.ids import is_uuid

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_NAME: Final = "spool"


class S3Spool:
    """Implements `delivery.ports.Spool`. Keys are `<account>/<message id>/<token>`."""

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
                    yield part["Prefix"].removesuffix("/")

    def put_before(
        self, account_id: str, moment: datetime, cursor: str | None
    ) -> ScanPage[SpoolObject]:
        """List up to 1,000 of an account's objects; the cursor is the last key before them."""
        request: Any = {"Bucket": self._bucket, "Prefix": f"{account_id}/"}
        if cursor is not None:
            request["StartAfter"] = cursor
        with service_errors(_NAME):
            page = self._s3.list_objects_v2(**request)
        listed = page.get("Contents", [])
        spooled = []
        for stored in listed:
            message_id = stored["Key"].split("/")[1]
            if stored["LastModified"] < moment and is_uuid(message_id):
                spooled.append(SpoolObject(stored["Key"], account_id, UUID(message_id)))
        return ScanPage(spooled, listed[-1]["Key"] if page["IsTruncated"] else None)

    def delete(self, key: str) -> None:
        """Delete an object, if it still exists."""
        with service_errors(_NAME):
            self._s3.delete_object(Bucket=self._bucket, Key=key)
