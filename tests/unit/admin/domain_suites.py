"""What every implementation of the ports about domains must do.

The fakes and the adapters each run these suites with fixtures of their own.
"""

from collections.abc import Callable

from pillarbox.application.accounts.ports import DnsRecord, DomainIdentities, Zones

type AddZone = Callable[[str], None]

TEXT = DnsRecord("SPF", "TXT", "shop.example", "v=spf1 include:amazonses.com ~all")
EXCHANGER = DnsRecord("MAIL FROM", "MX", "mail.shop.example", "10 feedback.example")
ALIAS = DnsRecord("DKIM", "CNAME", "t._domainkey.shop.example", "t.dkim.amazonses.com")


class DomainIdentitiesSuite:
    """`DomainIdentities`."""

    def test_a_domain_has_keys_from_the_start(self, identities: DomainIdentities) -> None:
        """An added domain is known with three tokens, and without a MAIL FROM domain."""
        assert identities.get("unverified.example") is None
        added = identities.add("unverified.example")
        assert identities.get("unverified.example") == added
        assert (added.name, added.verified, added.dkim) == ("unverified.example", False, "PENDING")
        assert len(set(added.dkim_tokens)) == 3
        assert (added.mail_from, added.mail_from_status) == (None, None)
        assert added.feedback_host.startswith("feedback-smtp.")

    def test_adding_again_changes_nothing(self, identities: DomainIdentities) -> None:
        """A domain that is known keeps its keys and its MAIL FROM domain."""
        first = identities.add("unverified.example")
        identities.set_mail_from("unverified.example", "mail.unverified.example")
        again = identities.add("unverified.example")
        assert again.dkim_tokens == first.dkim_tokens
        assert again.mail_from == "mail.unverified.example"
        assert again.mail_from_status == "PENDING"


class ZonesSuite:
    """`Zones`."""

    def test_the_longest_name_holds(self, zones: Zones, add_zone: AddZone) -> None:
        """Of the zones above a name the nearest one holds it, and no zone of a like ending."""
        for name in ("example", "shop.example", "op.example"):
            add_zone(name)
        assert [zone.name for zone in zones.holding("shop.example")] == ["shop.example"]
        assert [zone.name for zone in zones.holding("eu.shop.example")] == ["shop.example"]
        assert [zone.name for zone in zones.holding("workshop.example")] == ["example"]
        assert zones.holding("shop.test") == []

    def test_two_zones_of_one_name_both_hold(self, zones: Zones, add_zone: AddZone) -> None:
        """Which of them the DNS asks is not for us to guess."""
        for _ in range(2):
            add_zone("shop.example")
        assert len(zones.holding("shop.example")) == 2

    def test_records_are_read_as_they_were_created(self, zones: Zones, add_zone: AddZone) -> None:
        """Each type at its own name; nothing at others."""
        add_zone("shop.example")
        (zone,) = zones.holding("shop.example")
        zones.create(zone, [TEXT, EXCHANGER, ALIAS])
        assert zones.values(zone, TEXT.name)["TXT"] == [TEXT.value]
        assert zones.values(zone, EXCHANGER.name) == {"MX": [EXCHANGER.value]}
        assert zones.values(zone, ALIAS.name) == {"CNAME": [ALIAS.value]}
        assert zones.values(zone, "a.shop.example") == {}
