"""Forged keys and costly requests on the front: a short run of `verification/attacks`."""

from collections.abc import Iterator

import pytest

from verification.attacks import large_requests
from verification.attacks.large_requests import Counts, Target

MIB = 1024 * 1024


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    with large_requests.front() as target:
        yield target


def test_costly_bodies_stay_cheap(target: Target) -> None:
    """No body ends as 5xx, takes over 2 s of CPU or 400 MiB, or gets over 1 MB of response.

    A machine that is slower than usual may take longer.
    """
    counts = Counts()
    large_requests.attack_parser(target, counts, step=53)
    assert counts.findings == []
    assert counts.tried >= 10
    assert (counts.server_errors, counts.slow) == (0, 0)
    assert counts.largest_response <= 1_000_000
    assert 0 < counts.peak <= 400 * MIB


def test_held_sockets_block_nobody(target: Target) -> None:
    """While idle, stalled and slow sockets hold the front, large sends are accepted."""
    counts = Counts()
    large_requests.attack_sockets(target, counts, number=10)
    assert counts.findings == []
    assert (counts.sockets, counts.accepted) == (30, counts.sent)
    assert counts.sent == 15


def test_a_flood_of_one_key_blocks_nobody(target: Target) -> None:
    """While one key floods the front with large sends, those of another key are accepted."""
    counts = Counts()
    large_requests.attack_by_flood(target, counts, number=12)
    assert counts.findings == []
    assert counts.tried > 12
    assert (counts.server_errors, counts.accepted) == (0, counts.sent)
    assert counts.sent == 5
