"""Forged keys and costly requests on the front: a short run of `verification/attacks`."""

from collections.abc import Iterator

import pytest

from verification.attacks import large_requests
from verification.attacks.large_requests import Target, new_tally


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    with large_requests.front() as target:
        yield target


def test_costly_bodies_stay_cheap(target: Target) -> None:
    """No body ends as 5xx, takes over 2 s of CPU or 400 MiB, or gets over 1 MB of response.

    A machine that is slower than usual may take longer.
    """
    tally = new_tally()
    large_requests.attack_parser(target, tally, step=53)
    assert not tally.failed, tally.findings
    assert tally["bad inputs tried"] == 5
    assert tally["bytes of the largest response"] <= 1_000_000
    assert 0 < tally["MiB of the worker at most"] <= 400


def test_held_sockets_block_nobody(target: Target) -> None:
    """While idle, stalled and slow sockets hold the front, large sends are accepted."""
    tally = new_tally()
    large_requests.attack_sockets(target, tally, number=10, sends=1)
    assert not tally.failed, tally.findings
    assert (tally["sockets held"], tally["large sends"]) == (30, 3)


def test_a_flood_of_one_key_blocks_nobody(target: Target) -> None:
    """While one key floods the front with large sends, one of another key is accepted."""
    tally = new_tally()
    large_requests.attack_by_flood(target, tally, number=12, sends=1)
    assert not tally.failed, tally.findings
    assert tally["requests of the flood"] > 12
    assert tally["large sends"] == 1
