"""The sweeper's view of the spool on S3."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import boto3
import pytest

from pillarbox.adapters.s3 import S3Spool
from tests.aws import Aws
from tests.fakes.builders import ACCOUNT
from tests.loops import all_pages

MESSAGE = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
LATER = timedelta(hours=1)
OTHER = "acct00000002"


@pytest.fixture
def spool(aws: Aws) -> S3Spool:
    return S3Spool(aws.bucket)


def put(aws: Aws, *keys: str) -> None:
    for key in keys:
        boto3.client("s3").put_object(Bucket=aws.bucket, Key=key, Body=b"x")


def keys_before(spool: S3Spool, moment: datetime, account_id: str = ACCOUNT) -> list[str]:
    pages = all_pages(lambda cursor: spool.put_before(account_id, moment, cursor))
    return [stored.key for stored in pages]


def test_only_the_accounts_objects_are_listed(aws: Aws, spool: S3Spool) -> None:
    put(aws, f"{OTHER}/{MESSAGE}/x", f"{ACCOUNT}x/{MESSAGE}/x")
    assert keys_before(spool, datetime.now(UTC) + LATER) == []
    assert keys_before(spool, datetime.now(UTC) + LATER, OTHER) == [f"{OTHER}/{MESSAGE}/x"]


def test_foreign_objects_are_left_out(aws: Aws, spool: S3Spool) -> None:
    """An object whose key names no message is not listed, so nothing deletes it."""
    put(aws, "x", f"{ACCOUNT}/no-id/x", f"{ACCOUNT}/x", f"{MESSAGE}/x")
    for account_id in (ACCOUNT, str(MESSAGE)):
        assert keys_before(spool, datetime.now(UTC) + LATER, account_id) == []


def test_more_than_a_page_is_listed(
    aws: Aws, spool: S3Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3 lists a limited number of objects at a time (1,000), and all pages are read."""
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "10")
    keys = {f"{ACCOUNT}/{MESSAGE}/{n:04d}" for n in range(21)}
    put(aws, *keys)
    first = spool.put_before(ACCOUNT, datetime.now(UTC) + LATER, None)
    assert (len(first.items), first.next) == (10, f"{ACCOUNT}/{MESSAGE}/0009")
    assert set(keys_before(spool, datetime.now(UTC) + LATER)) == keys
