"""The attack on the reputation of all finds nothing, and would find something."""

from tests.contract.service import Service
from verification.attacks.reputation import attack


def test_a_key_and_a_template_stop_at_the_twentieth_bounce(service: Service) -> None:
    """Of 22 emails that bounce, a stolen key sends 20, a template too, and others go on."""
    tally = attack(service, 22)
    assert not tally.failed, tally.findings
    assert (tally["accepted with the key"], tally["accepted with the template"]) == (20, 20)
    assert tally["sending_paused"] == 4


def test_a_missing_breaker_is_found(service: Service) -> None:
    """With a breaker that only warns, the attack reports what was accepted."""
    assert attack(service, 22, "warn").failed
