"""The sweeper's view of the spool on S3."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import boto3
import pytest

from pillarbox.adapters.s3_spool import S3Spool
from pillarbox.application.ports import SpoolObject
from tests.aws import Aws
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT

MESSAGE = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
LATER = timedelta(hours=1)


@pytest.fixture
def spool(aws: Aws) -> S3Spool:
    return S3Spool(aws.bucket)


def put(aws: Aws, *keys: str) -> None:
    for key in keys:
        boto3.client("s3").put_object(Bucket=aws.bucket, Key=key, Body=b"x")


def test_each_object_is_listed_with_its_message(aws: Aws, spool: S3Spool) -> None:
    """Each object put before the moment is listed with the account and message of its key."""
    key = f"{ACCOUNT}/{MESSAGE}/try"
    put(aws, key)
    now = datetime.now(UTC)
    assert [*spool.all_before(now + LATER)] == [SpoolObject(key, ACCOUNT, MESSAGE)]
    assert [*spool.all_before(now - LATER)] == []


def test_foreign_objects_are_left_out(aws: Aws, spool: S3Spool) -> None:
    """An object whose key names no message is not listed, so nothing deletes it."""
    put(aws, "x", f"{ACCOUNT}/no-id/x", f"{MESSAGE}/x")
    assert [*spool.all_before(datetime.now(UTC) + LATER)] == []


def test_more_than_a_page_is_listed(aws: Aws, spool: S3Spool) -> None:
    """S3 lists 1,000 objects at a time, and all pages are read."""
    keys = {f"{ACCOUNT}/{MESSAGE}/{n}" for n in range(1_001)}
    put(aws, *keys)
    assert {stored.key for stored in spool.all_before(datetime.now(UTC) + LATER)} == keys


def test_an_object_is_deleted_once_or_twice(aws: Aws, spool: S3Spool) -> None:
    """A deletion removes one object, and its repetition is no error."""
    message = builders.message()
    keys = [f"{ACCOUNT}/{message.message_id}/{n}" for n in range(2)]
    put(aws, *keys)
    spool.delete(keys[0])
    spool.delete(keys[0])
    assert [stored.key for stored in spool.all_before(datetime.now(UTC) + LATER)] == keys[1:]
