"""Kept content on S3."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from pillarbox.adapters.s3 import S3KeptContents, S3Received, S3Spool
from pillarbox.domain.messages.kept import KeptContent
from tests.aws import Aws
from tests.fakes.builders import ACCOUNT, received
from tests.servers import Handler, serving

OTHER = "acct00000002"
CONTENT = KeptContent(account_id=ACCOUNT, message_id="m1", days=7, day=date(2026, 1, 2))


@pytest.fixture
def contents(aws: Aws) -> S3KeptContents:
    return S3KeptContents(aws.bucket)


def test_content_that_s3_did_not_delete_is_an_error() -> None:
    """DeleteObjects answers with 200 and has an error for each object (S3's API reference)."""
    contents = S3KeptContents("bucket")
    with Stubber(contents._s3) as s3:
        s3.add_response("list_objects_v2", {"Contents": [{"Key": "a"}, {"Key": "b"}]})
        s3.add_response("delete_objects", {"Errors": [{"Key": "b", "Code": "AccessDenied"}]})
        with pytest.raises(ClientError, match="AccessDenied"):
            list(contents.remove_all(ACCOUNT))
    mails = S3Received("bucket")
    with Stubber(mails._s3) as s3:
        s3.add_response("delete_objects", {"Errors": [{"Key": "b", "Code": "AccessDenied"}]})
        with pytest.raises(ClientError, match="AccessDenied"):
            mails.remove(received())


def test_a_connection_that_was_closed_unheard_loses_no_content(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker that was frozen does not know of it, so the write is tried again."""
    written: list[bytes] = []
    dropped: list[str] = []

    class S3(Handler):
        def do_PUT(self) -> None:
            octets = self.read()
            if not dropped:
                dropped.append(self.path)
                return
            written.append(octets)
            self.write(200)

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    with serving(S3) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        S3KeptContents("spool").put(CONTENT, b"octets")
    assert dropped
    assert len(written) == 1
    assert b"octets" in written[0]


def test_all_of_an_account_is_deleted(contents: S3KeptContents) -> None:
    """That is of all numbers of days, and of no other account, such as one with a longer id."""
    own = [replace(CONTENT, days=days) for days in (1, 7, 30, 90)]
    others = [replace(CONTENT, account_id=each) for each in (OTHER, f"{ACCOUNT}x")]
    for content in (*own, *others):
        contents.put(content, b"octets")
    assert sum(contents.remove_all(ACCOUNT)) == 4
    assert [contents.get(each) for each in own] == [None] * 4
    assert [contents.get(each) for each in others] == [b"octets"] * 2


def test_a_sweep_takes_it_for_no_account(aws: Aws, contents: S3KeptContents) -> None:
    """The first part of its keys is not in the list of accounts with spooled emails."""
    contents.put(CONTENT, b"octets")
    assert "kept" not in list(S3Spool(aws.bucket).account_ids())


def test_the_link_ends(contents: S3KeptContents) -> None:
    """It is signed for the one object, as a file to save, and for as long as is asked for."""
    url = contents.sign(CONTENT, timedelta(minutes=5))
    assert f"/kept/7/{ACCOUNT}/2026-01-02/m1.eml?" in url
    assert "X-Amz-Expires=300" in url
    assert "response-content-disposition=attachment" in url
