"""What a tenant keeps during a flood: a short form of verification/attacks/neighbours.py."""

from verification.attacks.neighbours import FLOODS, GOAL, acceptance, shares


def test_a_neighbour_keeps_its_share_of_the_sending_rate() -> None:
    """During each flood another tenant gets at least 90 % of what it gets alone."""
    measured = list(shares(short=True))
    assert len(measured) == 2 * len(FLOODS)
    assert [share for share in measured if share.part < GOAL] == []
    assert all(share.alone >= 36 for share in measured)


def test_a_neighbour_is_accepted_while_another_floods() -> None:
    """A flood of emails to many recipients ends at its own limit and refuses nobody else."""
    accepted = acceptance(100)
    assert (accepted.alone, accepted.kept) == (5, 5)
    assert accepted.flood_recipients == accepted.limit == 50
