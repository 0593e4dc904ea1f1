"""The spool for the sweeper: its objects with their ages."""

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final
from uuid import UUID

from pillarbox.adapters.aws import make_client, service_errors
from pillarbox.application.ports import SpoolObject
from pillarbox.domain.ids import is_uuid

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_NAME: Final = "spool"


class S3Spool:
    """Implements `ports.Spool`."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    @cached_property
    def _s3(self) -> "S3Client":
        client: S3Client = make_client("s3")
        return client

    def all_before(self, moment: datetime) -> Iterable[SpoolObject]:
        """List the objects put before a moment. Keys are `<account>/<message id>/<token>`."""
        with service_errors(_NAME):
            pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=self._bucket)
            for page in pages:
                for stored in page.get("Contents", ()):
                    account_id, _, rest = stored["Key"].partition("/")
                    message_id = rest.partition("/")[0]
                    if stored["LastModified"] < moment and is_uuid(message_id):
                        yield SpoolObject(stored["Key"], account_id, UUID(message_id))

    def delete(self, key: str) -> None:
        """Delete an object, if it still exists."""
        with service_errors(_NAME):
            self._s3.delete_object(Bucket=self._bucket, Key=key)
