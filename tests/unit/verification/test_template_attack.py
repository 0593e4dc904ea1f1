"""A short form of the attack on saved templates."""

import pytest

from pillarbox.rendering.fuel import MAX_FUEL
from verification.attacks.templates import Attack

pytestmark = pytest.mark.slow


def test_random_templates_break_no_promise() -> None:
    """Random templates do not escape, and what is accepted can be sent within the fuel."""
    counts = Attack(seed=7).run(templates=60)
    assert counts.tried == 60
    assert counts.escapes == counts.unsendable == 0, counts.failures
    assert 10 < counts.refused_at_saving < 50
    assert counts.refused_at_acceptance > 0
    assert counts.largest_fuel > MAX_FUEL / 10
