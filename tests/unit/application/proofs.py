"""Proofs of work that take a test few tries."""

from collections.abc import Iterator
from datetime import datetime
from unittest import mock

import pytest

from pillarbox.domain.errors import ValidationFailed
from pillarbox.domain.sign_in import proof_of_work
from pillarbox.domain.sign_in.proof_of_work import ALGORITHM, Challenge, Proof, check_proof

TRIES = 20


@pytest.fixture(autouse=True)
def few_tries() -> Iterator[None]:
    """Keep the search short."""
    with mock.patch.object(proof_of_work, "MAX_NUMBER", TRIES):
        yield


def solve(challenge: Challenge, user: str, now: datetime) -> Proof:
    """Solve a challenge of a user as the check in the service does."""
    for number in range(TRIES + 1):
        proof = Proof(challenge.challenge, challenge.salt, challenge.signature, ALGORITHM, number)
        try:
            check_proof(proof, b"key", user, now)
        except ValidationFailed:
            continue
        return proof
    raise AssertionError("no number is right")
