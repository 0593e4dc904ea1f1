"""Proof of work, compared with the package `altcha`."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from unittest import mock

import pytest
from altcha.v1 import (
    ChallengeOptions,
    Payload,
    create_challenge,
    solve_challenge,
    verify_solution,
)

from pillarbox.domain.sign_in import sign_up
from pillarbox.domain.sign_in.sign_up import (
    ALGORITHM,
    Challenge,
    Proof,
    check_proof,
    new_challenge,
)
from tests.refusals import fault

CHALLENGE_TIME = timedelta(minutes=5)

KEY: Final = b"a key of 32 bytes, of a test only"
USER: Final = "5" * 64
NOW: Final = datetime(2026, 11, 22, 12, tzinfo=UTC)


#: The most tries of a test.
FEW: Final = 500


def challenge(key: bytes, user: str, now: datetime) -> Challenge:
    """Make a challenge that takes few tries."""
    with mock.patch.object(sign_up, "MAX_NUMBER", FEW):
        return new_challenge(key, user, now)


def solved(given: Challenge) -> Proof:
    solution: Any = solve_challenge(
        challenge=given.challenge,
        salt=given.salt,
        algorithm=ALGORITHM,
        max_number=FEW,
    )
    return Proof(given.challenge, given.salt, given.signature, ALGORITHM, solution.number)


PROOF: Final = solved(challenge(KEY, USER, NOW))


def code_of(proof: Proof, *, key: bytes = KEY, user: str = USER, now: datetime = NOW) -> str:
    error = fault(check_proof, proof, key, user, now)
    return f"{error.field}: {error.message}"


def test_the_package_solves_and_accepts_our_challenges() -> None:
    """Its solver finds the number, and its check agrees with ours, also for another key."""
    now = datetime.now(UTC)  # the package has its own clock
    proof = solved(challenge(KEY, USER, now))
    payload = Payload(ALGORITHM, proof.challenge, proof.number, proof.salt, proof.signature)
    assert verify_solution(payload, KEY) == (True, None)
    assert check_proof(proof, KEY, USER, now).digest == proof.challenge
    assert verify_solution(payload, b"other")[0] is False
    assert code_of(proof, key=b"other") == "proof: is wrong, or is for another user"


def test_we_accept_challenges_of_the_package() -> None:
    """Its hashes and signatures are ours, if the salt has our parameters."""
    options = ChallengeOptions(
        max_number=FEW,
        salt_length=8,
        hmac_key=KEY,
        expires=NOW + CHALLENGE_TIME,
        params={"for": USER},
    )
    made = create_challenge(options)
    proof = solved(Challenge(made.challenge, made.salt, made.signature))
    checked = check_proof(proof, KEY, USER, NOW)
    assert (checked.digest, checked.expires_at) == (made.challenge, NOW + CHALLENGE_TIME)


@pytest.mark.parametrize(
    "wrong",
    [
        {"number": PROOF.number + 1},
        {"algorithm": "SHA-1"},
        {"challenge": "0" * 64},
        {"challenge": "\ud800"},
        {"signature": PROOF.signature[:-1]},
        {"signature": "\ud800"},
        {"salt": PROOF.salt.removesuffix("&")},
        {"salt": PROOF.salt + "x"},
        {"salt": "\ud800"},
        {"salt": PROOF.salt.replace("expires=1", "expires=9")},
        {"salt": f"{PROOF.salt}expires=9999999999&"},
    ],
)
def test_what_was_changed_is_refused(wrong: dict[str, Any]) -> None:
    """Every part is checked, and no text breaks the check."""
    assert code_of(replace(PROOF, **wrong)) == "proof: is wrong, or is for another user"


def test_digits_cannot_move_between_number_and_salt() -> None:
    number = str(PROOF.number) if PROOF.number > 9 else "10"
    moved = replace(PROOF, salt=f"{PROOF.salt}{number[0]}", number=int(number[1:]))
    assert code_of(moved) == "proof: is wrong, or is for another user"


def test_a_proof_is_for_one_user_and_five_minutes() -> None:
    assert code_of(PROOF, user="6" * 64) == "proof: is wrong, or is for another user"
    assert check_proof(PROOF, KEY, USER, NOW + CHALLENGE_TIME - timedelta(seconds=1))
    assert code_of(PROOF, now=NOW + CHALLENGE_TIME) == "proof: is too late: solve a new challenge"


def test_the_number_is_hidden_and_challenges_differ() -> None:
    challenges = [challenge(KEY, USER, NOW) for _ in range(50)]
    assert len({one.challenge for one in challenges}) == 50
    assert len({one.salt for one in challenges}) == 50


def test_a_proof_takes_a_million_hashes_of_one_block_each() -> None:
    """Half of the numbers on average; of two blocks of salt and number the first is constant."""
    assert sign_up.MAX_NUMBER // 2 == 1_000_000
    salt = new_challenge(KEY, USER, NOW).salt
    padding = 1 + 8  # octets
    assert 64 < len(f"{salt}{sign_up.MAX_NUMBER}") + padding <= 2 * 64
