"""The attack on the provider's identities finds nothing, and would find something."""

from dataclasses import replace
from unittest import mock

from pillarbox import wiring
from tests.contract.service import Service
from verification.attacks.identities import attack


def test_no_account_uses_up_the_identities(service: Service) -> None:
    """Some domains are added and registered; none stays at SES, and no shared one is taken."""
    tally = attack(service, 24)
    assert not tally.failed, tally.findings
    assert (tally["added"], tally["429"]) == (40, 8)


def test_a_missing_rule_is_found(service: Service) -> None:
    """Without the list of shared domains, the attack reports those that get through."""
    domains = wiring.services().account_domains
    blind = replace(domains, registrable_domain=lambda name: name)
    with mock.patch.dict(vars(wiring.services()), account_domains=blind):
        assert attack(service, 1)["shared domains"] > 0
