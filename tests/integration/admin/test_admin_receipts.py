"""The receipt rules of a stack beside those of others, with moto in place of SES."""

from collections.abc import Callable
from typing import Any
from unittest import mock

import boto3
import pytest
from botocore.exceptions import ClientError

from admin.aws.receipts import StackReceipts
from admin.use_cases.ports import Receipts
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.ses.receipts import SesReceiptRules

INBOUND = "inbound-smtp.us-east-1.amazonaws.com"


@pytest.fixture
def ses(table: Table) -> Any:
    """SES in emulated AWS, and a bucket to which rules write."""
    assert table.name
    boto3.client("s3").create_bucket(Bucket="spool")
    return boto3.client("ses")


def sets(ses: Any) -> dict[str, int]:
    names = [one["Name"] for one in ses.list_receipt_rule_sets()["RuleSets"]]
    return {one: len(ses.describe_receipt_rule_set(RuleSetName=one)["Rules"]) for one in names}


def active(ses: Any) -> str | None:
    name: str | None = ses.describe_active_receipt_rule_set().get("Metadata", {}).get("Name")
    return name


def receipts(stack: str = "pillarbox", pause: Callable[[float], None] = lambda _: None) -> Any:
    return StackReceipts(stack, "spool", pause)


def test_the_last_stack_takes_the_set_along(ses: Any) -> None:
    """The rules of a stack whose name begins with this one's stay, and then so does the set."""
    for stack, domain in (("pillarbox", "in.a.example"), ("pillarbox-dev", "in.b.example")):
        SesReceiptRules(stack, "spool").put(domain)
    SesReceiptRules("pillarbox", "spool").put("in.c.example")
    SesReceiptRules("pillarbox", "spool").switch("in.c.example", on=False)
    found = receipts().read()
    assert found == Receipts(
        host=INBOUND,
        active="pillarbox",
        rules={"in.a.example": True, "in.c.example": False},
        may_write=False,
    )
    receipts().remove()
    assert (sets(ses), active(ses)) == ({"pillarbox": 1}, "pillarbox")
    receipts("pillarbox-dev").remove()
    assert (sets(ses), active(ses)) == ({}, None)
    receipts().remove()


def test_a_set_of_others_stays_active(ses: Any) -> None:
    """Also when they activated it after the stack had made one."""
    rules = SesReceiptRules("pillarbox", "spool")
    rules.put("in.a.example")
    ses.create_receipt_rule_set(RuleSetName="theirs")
    ses.set_active_receipt_rule_set(RuleSetName="theirs")
    rules.put("in.b.example")
    receipts().remove()
    assert (sets(ses), active(ses)) == ({"theirs": 0}, "theirs")


def test_a_stack_that_begins_at_that_moment_keeps_its_rule(ses: Any) -> None:
    """SES stops no change between two calls, so the teardown looks again."""
    SesReceiptRules("pillarbox", "spool").put("in.a.example")
    other = SesReceiptRules("other", "spool")

    def begin() -> None:
        with mock.patch.object(SesReceiptRules, "_active_set", return_value="pillarbox"):
            other.put("in.b.example")

    # The first pause is that after the stack's only rule.
    pause: mock.Mock = mock.Mock(side_effect=lambda _: begin() if pause.call_count > 1 else None)
    receipts(pause=pause).remove()
    assert (sets(ses), active(ses)) == ({"pillarbox": 1}, "pillarbox")


def test_a_region_without_receiving(ses: Any) -> None:
    """SES says so of each call about rules: it has no such operation there."""
    error = ClientError({"Error": {"Code": "InvalidAction", "Message": ""}}, "Describe")
    there = receipts()
    assert there.receives()
    client = mock.Mock(wraps=ses)
    client.describe_active_receipt_rule_set.side_effect = error
    with mock.patch.object(there, "_ses", client):
        there.remove()
        assert not there.receives()


def test_ses_may_write_to_the_bucket_of_the_template(ses: Any) -> None:
    assert ses
    policy = '{"Statement": [{"Effect": "Allow", "Principal": {"Service": "ses.amazonaws.com"}}]}'
    boto3.client("s3").put_bucket_policy(Bucket="spool", Policy=policy)
    assert receipts().read().may_write
