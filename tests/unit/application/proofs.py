"""Proofs of work that take a test few tries."""

from collections.abc import Iterator
from hashlib import sha256
from unittest import mock

import pytest

from pillarbox.domain.sign_in import sign_up
from pillarbox.domain.sign_in.sign_up import ALGORITHM, Challenge, Proof

TRIES = 20


@pytest.fixture(autouse=True)
def few_tries() -> Iterator[None]:
    """Keep the search short."""
    with mock.patch.object(sign_up, "MAX_NUMBER", TRIES):
        yield


def solve(challenge: Challenge) -> Proof:
    salt, wanted = challenge.salt, challenge.challenge
    (number,) = (n for n in range(TRIES + 1) if sha256(f"{salt}{n}".encode()).hexdigest() == wanted)
    return Proof(wanted, salt, challenge.signature, ALGORITHM, number)
