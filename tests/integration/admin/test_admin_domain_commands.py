"""The commands `pillarbox domain`, run as an operator and as a program."""

import json

import boto3
import pytest

from local.ses.store import MailStore
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.ses.receipts import LambdaReceivedQueue
from tests.integration.admin.operator_command import Operator
from tests.integration.admin.records import put_verified_domain


def test_a_domain_is_added_shown_and_verified(run: Operator) -> None:
    added = run("domain", "add", "shop.example")
    assert (added["domain"], added["mailFrom"]) == ("shop.example", "mail.shop.example")
    assert [(record["purpose"], record["type"]) for record in added["records"]] == [
        *[("DKIM", "CNAME")] * 3,
        ("MAIL FROM", "MX"),
        ("MAIL FROM SPF", "TXT"),
        ("SPF", "TXT"),
        ("DMARC", "TXT"),
    ]
    assert run("domain", "show", "shop.example")["records"] == added["records"]
    assert run("domain", "verify", "shop.example", "--wait")["verified"]
    account = run("account", "create", "--name", "Shop", "--plan", "free")["id"]
    assert run("domain", "list", "--account", account) == {"items": []}


def test_a_pending_domain_sets_the_exit_code(run: Operator) -> None:
    run("domain", "add", "unverified.example")
    pending = run.plain("--local", "--json", "domain", "verify", "unverified.example")
    assert pending.exit_code == 1
    assert json.loads(pending.stdout)["verified"] is False
    assert run.refused("domain", "show", "other.example") == (1, "validation_failed")
    assert run.refused("domain", "add", "pаypal.example") == (1, "validation_failed")  # noqa: RUF001  a Cyrillic a is the point


def test_identities_that_exist_stop_feedback_mail(run: Operator, mailbox: MailStore) -> None:
    address = "hello@unverified.example"
    for identity in ("shop.example", address):
        mailbox.create_identity(identity)
    assert run("domain", "show", "shop.example")["feedbackMail"] is True
    shown = run.plain("--local", "--json", "domain", "verify", "shop.example")
    assert json.loads(shown.stdout)["feedbackMail"] is False
    account = run("account", "create", "--name", "Shop", "--plan", "free")["id"]
    assert run("sender", "add", "--account", account, address)["verified"] is False
    assert [mailbox.forwards_feedback(one) for one in ("shop.example", address)] == [False, False]


def test_a_domain_of_an_account_receives(
    run: Operator, shared: Table, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In moto no function reads the queue; the rehearsal of the policies has one."""
    monkeypatch.setattr(LambdaReceivedQueue, "read", lambda _: None)
    put_verified_domain(shared, account, "shop.example")
    receive = ("domain", "receive", "shop.example", "--account", account)
    shown = run(*receive, "in", "--for", "support")
    assert (shown["receives"], shown["receiveNames"]) == ("in.shop.example", ["support"])
    (record,) = (one for one in shown["records"] if one["purpose"] == "ANSWERS")
    assert (record["type"], record["value"], record["dns"]["status"]) == (
        "MX",
        "10 inbound-smtp.us-east-1.amazonaws.com",
        "missing",
    )
    assert run(*receive, "--for", "sales")["receiveNames"] == ["sales"]
    assert run(*receive, "")["receives"] is None
    assert run.refused(*receive) == (1, "validation_failed")


def test_records_are_created_in_route_53(run: Operator) -> None:
    assert run.refused("domain", "add", "shop.example", "--route53") == (1, "validation_failed")
    boto3.client("route53").create_hosted_zone(Name="shop.example", CallerReference="1")
    made = run("domain", "add", "shop.example", "--route53")
    assert {record["dns"]["status"] for record in made["records"]} == {"created"}
    again = run("domain", "add", "shop.example", "--route53")
    assert {record["dns"]["status"] for record in again["records"]} == {"present"}


def test_people_can_copy_the_records(run: Operator, mailbox: MailStore) -> None:
    boto3.client("route53").create_hosted_zone(Name="shop.example", CallerReference="1")
    (zone,) = boto3.client("route53").list_hosted_zones()["HostedZones"]
    text = {"Name": "shop.example", "Type": "TXT", "TTL": 60}
    change = {
        "Action": "CREATE",
        "ResourceRecordSet": text | {"ResourceRecords": [{"Value": '"v=spf1 mx ~all"'}]},
    }
    boto3.client("route53").change_resource_record_sets(
        HostedZoneId=zone["Id"],
        ChangeBatch={"Changes": [change]},
    )
    shown = run.plain("--local", "domain", "add", "shop.example", "--route53")
    assert mailbox.mail_from == {"shop.example": "mail.shop.example"}
    lines = [" ".join(line.split()) for line in shown.stdout.splitlines()]
    assert "created MX mail.shop.example 10 feedback-smtp.us-east-1.amazonses.com" in lines
    assert "SPF: change it to: v=spf1 mx include:amazonses.com ~all" in lines
