"""The adapters for domains: SES, Route 53 and DNS."""

import threading
from typing import Any

import boto3
import pytest

from admin.aws.route53 import Route53Zones
from local.ses.store import MailStore
from pillarbox.adapters.dns_records import DnsRecords
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.ses.identities import SesDomains
from pillarbox.application.accounts.ports import DnsRecord
from pillarbox.domain.errors import ServiceError

TEXT = DnsRecord("SPF", "TXT", "shop.example", "v=spf1 include:amazonses.com ~all")
EXCHANGER = DnsRecord("MAIL FROM", "MX", "mail.shop.example", "10 feedback.example")
ALIAS = DnsRecord("DKIM", "CNAME", "t._domainkey.shop.example", "t.dkim.amazonses.com")


@pytest.fixture
def domains(
    table: Table, ses: tuple[str, MailStore], monkeypatch: pytest.MonkeyPatch
) -> SesDomains:
    assert table.name
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", ses[0])
    return SesDomains()


@pytest.fixture
def zones(table: Table) -> Route53Zones:
    assert table.name
    return Route53Zones()


def add_zone(name: str, **more: Any) -> None:
    boto3.client("route53").create_hosted_zone(
        Name=name, CallerReference=str(threading.get_ident()), **more
    )


def test_a_new_domain_has_dkim_keys(domains: SesDomains) -> None:
    assert domains.get("unverified.example") is None
    added = domains.add("unverified.example")
    assert domains.get("unverified.example") == added
    assert (added.name, added.verified, added.dkim) == ("unverified.example", False, "PENDING")
    assert len(set(added.dkim_tokens)) == 3
    assert (added.mail_from, added.mail_from_status) == (None, None)
    assert added.feedback_host.startswith("feedback-smtp.")
    assert not added.mails_feedback


def test_adding_a_known_domain_changes_nothing(domains: SesDomains) -> None:
    first = domains.add("unverified.example")
    domains.set_mail_from("unverified.example", "mail.unverified.example")
    again = domains.add("unverified.example")
    assert again.dkim_tokens == first.dkim_tokens
    assert again.mail_from == "mail.unverified.example"
    assert again.mail_from_status == "PENDING"


def test_a_removed_domain_is_new_again(domains: SesDomains) -> None:
    domains.add("unverified.example")
    domains.set_mail_from("unverified.example", "mail.unverified.example")
    for _ in range(2):
        domains.remove("unverified.example")
    assert domains.get("unverified.example") is None
    assert domains.add("unverified.example").mail_from is None


def test_the_nearest_zone_contains_a_name(zones: Route53Zones) -> None:
    for name in ("example", "shop.example", "op.example"):
        add_zone(name)
    assert [zone.name for zone in zones.zones_for("shop.example")] == ["shop.example"]
    assert [zone.name for zone in zones.zones_for("eu.shop.example")] == ["shop.example"]
    assert [zone.name for zone in zones.zones_for("workshop.example")] == ["example"]
    assert zones.zones_for("shop.test") == []


def test_two_zones_with_one_name_are_both_returned(zones: Route53Zones) -> None:
    """Both zones are returned, because we cannot know which of them DNS uses."""
    for _ in range(2):
        add_zone("shop.example")
    assert len(zones.zones_for("shop.example")) == 2


def test_records_are_read_as_they_were_created(zones: Route53Zones) -> None:
    add_zone("shop.example")
    (zone,) = zones.zones_for("shop.example")
    zones.create(zone, [TEXT, EXCHANGER, ALIAS])
    assert zones.values_at(zone, TEXT.name)["TXT"] == [TEXT.value]
    assert zones.values_at(zone, EXCHANGER.name) == {"MX": [EXCHANGER.value]}
    assert zones.values_at(zone, ALIAS.name) == {"CNAME": [ALIAS.value]}
    assert zones.values_at(zone, "a.shop.example") == {}


@pytest.mark.usefixtures("table")
def test_private_zones_are_ignored() -> None:
    """A private zone is not returned, because public DNS does not use it."""
    add_zone("shop.example", HostedZoneConfig={"PrivateZone": True})
    assert Route53Zones().zones_for("shop.example") == []


@pytest.mark.usefixtures("table")
def test_route_53_creates_and_never_overwrites() -> None:
    add_zone("shop.example")
    zones = Route53Zones()
    (zone,) = zones.zones_for("shop.example")
    requests: list[Any] = []
    zones._route53.meta.events.register(
        "provide-client-params.route53.ChangeResourceRecordSets",
        lambda params, **_: requests.append(params),
    )
    zones.create(zone, [TEXT])
    with pytest.raises(ServiceError, match="AWS refused ChangeResourceRecordSets"):
        zones.create(zone, [TEXT])
    actions = [
        change["Action"] for request in requests for change in request["ChangeBatch"]["Changes"]
    ]
    assert actions == ["CREATE", "CREATE"]


@pytest.mark.usefixtures("table")
def test_texts_of_several_strings_and_aliases_are_read() -> None:
    add_zone("shop.example")
    route53 = boto3.client("route53")
    zones = Route53Zones()
    (zone,) = zones.zones_for("shop.example")
    alias = {
        "HostedZoneId": zone.zone_id,
        "DNSName": "elsewhere.example",
        "EvaluateTargetHealth": False,
    }
    record_sets: list[Any] = [
        {
            "Name": "long.shop.example",
            "Type": "TXT",
            "TTL": 60,
            "ResourceRecords": [{"Value": '"v=spf1 " "mx -all"'}],
        },
        {"Name": "alias.shop.example", "Type": "CNAME", "AliasTarget": alias},
    ]
    for record_set in record_sets:
        route53.change_resource_record_sets(
            HostedZoneId=zone.zone_id,
            ChangeBatch={"Changes": [{"Action": "CREATE", "ResourceRecordSet": record_set}]},
        )
    assert zones.values_at(zone, "long.shop.example") == {"TXT": ["v=spf1 mx -all"]}
    assert zones.values_at(zone, "alias.shop.example") == {"CNAME": []}


def test_dns_lookups(name_server: str) -> None:
    records = DnsRecords((name_server,))
    assert records.look_up("long.example", "TXT") == ("v=spf1 include:amazonses.com ~all",)
    assert records.look_up("alias.example", "CNAME") == ("Token.DKIM.amazonses.com",)
    assert records.look_up("mail.example", "MX") == ("10 feedback.example",)
    assert records.look_up("odd.example", "TXT") == ("\ufffd",)
    assert records.look_up("mail.example", "TXT") == ()
    assert records.look_up("gone.example", "TXT") == ()
    assert records.look_up("broken.example", "TXT") is None
