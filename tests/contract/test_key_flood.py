"""What one key may cost its neighbours: a short form of verification/attacks/key_flood.py."""

import pytest

from tests.contract.service import Service
from verification.attacks.key_flood import FLOODS, GOAL, read_floods, share_kept


def test_a_flood_ends_at_one_read_and_a_neighbour_sends(service: Service) -> None:
    """After a few requests that accept nothing, a key gets 429 for three items read."""
    floods = list(read_floods(service, requests=6, messages=20))
    assert len(floods) == 6
    assert [reads for reads in floods if reads.broken] == []
    assert all(reads.first >= 50 and reads.refused_early > 0 for reads in floods)


@pytest.mark.parametrize("flood", FLOODS)
def test_a_neighbour_keeps_its_share_behind_a_firewall(flood: float) -> None:
    """A flood with one key leaves others 90 % of their requests in ten minutes, by the model."""
    assert share_kept(flood, firewall=True, same_method=True) >= GOAL
    assert share_kept(flood, firewall=False, same_method=False) >= GOAL


def test_the_model_shows_what_remains_without_a_firewall() -> None:
    """Without one, a flood above the gateway's rate takes that method and path from the others."""
    assert share_kept(FLOODS[-1], firewall=False, same_method=True) < GOAL
