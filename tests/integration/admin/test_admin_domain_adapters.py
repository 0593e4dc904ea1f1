"""The adapters for SES, Route 53 and DNS pass the tests of their ports."""

import threading
from typing import Any

import boto3
import pytest

from admin.aws.route53 import Route53Zones
from local.ses.store import MailStore
from pillarbox.adapters.dns_records import DnsRecords
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.ses.domains import SesDomains
from pillarbox.domain.errors import ServiceError
from tests.unit.admin.domain_port_suites import (
    TEXT,
    AddZone,
    DomainIdentitiesSuite,
    HostedZonesSuite,
)


class TestSesDomains(DomainIdentitiesSuite):
    @pytest.fixture
    def identities(
        self, table: Table, ses: tuple[str, MailStore], monkeypatch: pytest.MonkeyPatch
    ) -> SesDomains:
        assert table.name
        monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", ses[0])
        return SesDomains()


class TestRoute53Zones(HostedZonesSuite):
    @pytest.fixture
    def zones(self, table: Table) -> Route53Zones:
        assert table.name
        return Route53Zones()

    @pytest.fixture
    def add_zone(self, zones: Route53Zones) -> AddZone:
        assert zones
        return add_zone


def add_zone(name: str, **more: Any) -> None:
    boto3.client("route53").create_hosted_zone(
        Name=name, CallerReference=str(threading.get_ident()), **more
    )


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
