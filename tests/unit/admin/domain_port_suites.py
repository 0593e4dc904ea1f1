"""Tests for all implementations of the ports for domains.

The fakes and the adapters run them with fixtures of their own.
"""

from collections.abc import Callable

from pillarbox.application.accounts.ports import DnsRecord, DomainIdentities, HostedZones

type AddZone = Callable[[str], None]

TEXT = DnsRecord("SPF", "TXT", "shop.example", "v=spf1 include:amazonses.com ~all")
EXCHANGER = DnsRecord("MAIL FROM", "MX", "mail.shop.example", "10 feedback.example")
ALIAS = DnsRecord("DKIM", "CNAME", "t._domainkey.shop.example", "t.dkim.amazonses.com")


class DomainIdentitiesSuite:
    """Tests for `DomainIdentities`."""

    def test_a_new_domain_has_dkim_keys(self, identities: DomainIdentities) -> None:
        assert identities.get("unverified.example") is None
        added = identities.add("unverified.example")
        assert identities.get("unverified.example") == added
        assert (added.name, added.verified, added.dkim) == ("unverified.example", False, "PENDING")
        assert len(set(added.dkim_tokens)) == 3
        assert (added.mail_from, added.mail_from_status) == (None, None)
        assert added.feedback_host.startswith("feedback-smtp.")
        assert not added.mails_feedback

    def test_adding_a_known_domain_changes_nothing(self, identities: DomainIdentities) -> None:
        first = identities.add("unverified.example")
        identities.set_mail_from("unverified.example", "mail.unverified.example")
        again = identities.add("unverified.example")
        assert again.dkim_tokens == first.dkim_tokens
        assert again.mail_from == "mail.unverified.example"
        assert again.mail_from_status == "PENDING"

    def test_a_removed_domain_is_new_again(self, identities: DomainIdentities) -> None:
        identities.add("unverified.example")
        identities.set_mail_from("unverified.example", "mail.unverified.example")
        for _ in range(2):
            identities.remove("unverified.example")
        assert identities.get("unverified.example") is None
        assert identities.add("unverified.example").mail_from is None


class HostedZonesSuite:
    """Tests for `HostedZones`."""

    def test_the_nearest_zone_contains_a_name(self, zones: HostedZones, add_zone: AddZone) -> None:
        for name in ("example", "shop.example", "op.example"):
            add_zone(name)
        assert [zone.name for zone in zones.zones_for("shop.example")] == ["shop.example"]
        assert [zone.name for zone in zones.zones_for("eu.shop.example")] == ["shop.example"]
        assert [zone.name for zone in zones.zones_for("workshop.example")] == ["example"]
        assert zones.zones_for("shop.test") == []

    def test_two_zones_with_one_name_are_both_returned(
        self, zones: HostedZones, add_zone: AddZone
    ) -> None:
        """Both zones are returned, because we cannot know which of them DNS uses."""
        for _ in range(2):
            add_zone("shop.example")
        assert len(zones.zones_for("shop.example")) == 2

    def test_records_are_read_as_they_were_created(
        self, zones: HostedZones, add_zone: AddZone
    ) -> None:
        add_zone("shop.example")
        (zone,) = zones.zones_for("shop.example")
        zones.create(zone, [TEXT, EXCHANGER, ALIAS])
        assert zones.values_at(zone, TEXT.name)["TXT"] == [TEXT.value]
        assert zones.values_at(zone, EXCHANGER.name) == {"MX": [EXCHANGER.value]}
        assert zones.values_at(zone, ALIAS.name) == {"CNAME": [ALIAS.value]}
        assert zones.values_at(zone, "a.shop.example") == {}
