"""The commands `pillarbox domain`, run as an operator and as a program."""

import json
from datetime import timedelta
from typing import Any

import boto3
import pytest

from local.ses.store import MailStore
from pillarbox.wiring import utc_now
from tests.integration.admin.operator_command import CommandFailure, Operator


def test_a_domain_is_added_shown_and_verified(run: Operator) -> None:
    added = run("domain", "add", "shop.example")
    assert (added["domain"], added["mailFrom"]) == ("shop.example", "mail.shop.example")
    spf = "v=spf1 include:amazonses.com ~all"
    exchanger = "10 feedback-smtp.us-east-1.amazonses.com"
    assert [
        (one["purpose"], one["type"], one["host"], one["value"]) for one in added["records"]
    ] == [
        *(
            ("DKIM", "CNAME", f"{token}._domainkey.shop.example", f"{token}.dkim.amazonses.com")
            for token in (one["host"].partition(".")[0] for one in added["records"][:3])
        ),
        ("MAIL FROM", "MX", "mail.shop.example", exchanger),
        ("MAIL FROM SPF", "TXT", "mail.shop.example", spf),
        ("SPF", "TXT", "shop.example", spf),
        ("DMARC", "TXT", "_dmarc.shop.example", "v=DMARC1; p=none"),
    ]
    assert run("domain", "show", "shop.example")["records"] == added["records"]
    assert run("domain", "verify", "shop.example", "--wait")["verified"]
    account = run("account", "create", "--name", "Shop", "--plan", "free")["id"]
    assert run("domain", "list", "--account", account) == {"items": []}


def test_a_pending_domain_sets_the_exit_code(
    run: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("domain", "add", "unverified.example")
    pending = run.plain("--local", "--json", "domain", "verify", "unverified.example")
    assert pending.exit_code == 1
    assert json.loads(pending.stdout)["verified"] is False
    begun, pauses = utc_now(), list[float]()
    monkeypatch.setattr("admin.wiring.sleep", pauses.append)
    monkeypatch.setattr(
        "pillarbox.wiring.stores.read_clock",
        lambda: begun + timedelta(seconds=sum(pauses) + 10 * bool(pauses)),
    )
    waiting = ("domain", "verify", "unverified.example", "--wait", "--minutes", "1")
    assert run.plain("--local", *waiting).exit_code == 1
    assert pauses == [15, 15, 15, 5]
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


def test_records_are_created_in_route_53(run: Operator) -> None:
    assert run.refused("domain", "add", "shop.example", "--route53") == (1, "validation_failed")
    assert run.refused("domain", "show", "shop.example") == (1, "validation_failed")
    boto3.client("route53").create_hosted_zone(Name="shop.example", CallerReference="1")
    made = run("domain", "add", "shop.example", "--route53")
    assert {record["dns"]["status"] for record in made["records"]} == {"created"}
    again = run("domain", "add", "shop.example", "--route53")
    assert {record["dns"]["status"] for record in again["records"]} == {"present"}
    boto3.client("route53").create_hosted_zone(Name="shop.example", CallerReference="2")
    with pytest.raises(CommandFailure, match=r"2 hosted zones shop\.example"):
        run("domain", "add", "shop.example", "--route53")


def put_record(name: str, kind: str, **target: object) -> None:
    (zone,) = boto3.client("route53").list_hosted_zones()["HostedZones"]
    record: Any = {"Name": name, "Type": kind, **target}
    change: Any = {"Action": "CREATE", "ResourceRecordSet": record}
    boto3.client("route53").change_resource_record_sets(
        HostedZoneId=zone["Id"], ChangeBatch={"Changes": [change]}
    )


def values(text: str) -> dict[str, Any]:
    return {"TTL": 60, "ResourceRecords": [{"Value": text}]}


def test_records_of_others_stay_and_people_can_copy_ours(run: Operator, mailbox: MailStore) -> None:
    boto3.client("route53").create_hosted_zone(Name="shop.example", CallerReference="1")
    keys = [record["host"] for record in run("domain", "add", "shop.example")["records"][:3]]
    put_record("shop.example", "TXT", **values('"v=spf1 " "mx -all"'))
    put_record("_dmarc.shop.example", "TXT", **values('"v=DMARC1; p=reject"'))
    put_record("mail.shop.example", "CNAME", **values("webmail.example"))
    put_record(keys[0], "TXT", **values('"v=DKIM1; p="'))
    alias = {"HostedZoneId": "Z1", "DNSName": "else.example", "EvaluateTargetHealth": False}
    put_record(keys[1], "CNAME", AliasTarget=alias)
    shown = run("domain", "add", "shop.example", "--route53")["records"]
    assert [record["dns"]["status"] for record in shown] == [
        *("differs", "differs", "created", "differs", "differs", "differs", "present")
    ]
    assert shown[1]["dns"]["advice"] == "replace the alias"
    assert shown[3]["dns"]["advice"] == "remove the existing records of this name: CNAME"
    plain = run.plain("--local", "domain", "add", "shop.example", "--route53")
    lines = [" ".join(line.split()) for line in plain.stdout.splitlines()]
    assert f"present CNAME {keys[2]} {shown[2]['value']}" in lines
    assert "SPF: change it to: v=spf1 mx include:amazonses.com -all" in lines
    assert mailbox.mail_from == {"shop.example": "mail.shop.example"}
