"""The adapters for domains: SES, Route 53 and DNS."""

import threading
from typing import Any

import boto3
import pytest

from admin.aws.route53 import Route53Zones
from local.ses.store import MailStore
from pillarbox.adapters.dns_records import DnsRecords
from pillarbox.adapters.ses.identities import SesDomains
from pillarbox.application.accounts.ports import DnsRecord
from pillarbox.domain.errors import ServiceError

TEXT = DnsRecord("SPF", "TXT", "shop.example", "v=spf1 include:amazonses.com ~all")


def add_zone(name: str, **more: Any) -> None:
    boto3.client("route53").create_hosted_zone(
        Name=name, CallerReference=str(threading.get_ident()), **more
    )


@pytest.mark.usefixtures("table")
def test_a_removed_domain_is_new_again(
    ses: tuple[str, MailStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", ses[0])
    domains = SesDomains()
    domains.add("unverified.example")
    domains.set_mail_from("unverified.example", "mail.unverified.example")
    for _ in range(2):
        domains.remove("unverified.example")
    assert domains.get("unverified.example") is None
    assert domains.add("unverified.example").mail_from is None


@pytest.mark.usefixtures("table")
def test_the_nearest_zone_contains_a_name() -> None:
    """Public DNS does not use a private zone."""
    zones = Route53Zones()
    for name in ("example", "shop.example", "op.example"):
        add_zone(name)
    add_zone("eu.shop.example", HostedZoneConfig={"PrivateZone": True})
    assert [zone.name for zone in zones.zones_for("shop.example")] == ["shop.example"]
    assert [zone.name for zone in zones.zones_for("eu.shop.example")] == ["shop.example"]
    assert [zone.name for zone in zones.zones_for("workshop.example")] == ["example"]
    assert zones.zones_for("shop.test") == []


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


def test_dns_lookups(name_server: str) -> None:
    records = DnsRecords((name_server,))
    assert records.look_up("long.example", "TXT") == ("v=spf1 include:amazonses.com ~all",)
    assert records.look_up("alias.example", "CNAME") == ("Token.DKIM.amazonses.com",)
    assert records.look_up("mail.example", "MX") == ("10 feedback.example",)
    assert records.look_up("odd.example", "TXT") == ("\ufffd",)
    assert records.look_up("mail.example", "TXT") == ()
    assert records.look_up("gone.example", "TXT") == ()
    assert records.look_up("broken.example", "TXT") is None
