"""Proof of work: a browser has to search for a number before it may create an account.

The protocol is version 1 of ALTCHA. A challenge is the hash of a salt and a secret number, and is
signed, so the service stores nothing until it is solved. The salt names the end of its time and
the user that it is for.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from pillarbox.domain.errors import FieldError, ValidationFailed

ALGORITHM: Final = "SHA-256"
#: The highest number. On average half as many hashes are needed: about a second in a browser, which
#: hashes what does not change only once, and in a program too.
MAX_NUMBER: Final = 2_000_000
#: How long a challenge can be solved.
CHALLENGE_TIME: Final = timedelta(minutes=5)
KEY_LENGTH: Final = 32
#: With a number of seven digits a salt then fits into two blocks of the hash, and one is constant.
_RANDOM_BYTES: Final = 8
_SALT: Final = re.compile(r"[0-9a-f]{16}\?expires=([0-9]{10})&for=([0-9a-f]{64})&")


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a browser gets. The number that is searched for is from 0 to `MAX_NUMBER`."""

    challenge: str
    salt: str
    signature: str


@dataclass(frozen=True, slots=True)
class Proof(Challenge):
    """A challenge that came back with the number that a browser found."""

    algorithm: str
    number: int


@dataclass(frozen=True, slots=True)
class CheckedProof:
    """A right proof. The digest is different for each challenge."""

    digest: str
    expires_at: datetime = field(compare=False)


def new_challenge(key: bytes, user_digest: str, now: datetime) -> Challenge:
    """Create a challenge for a user."""
    expires = round((now + CHALLENGE_TIME).timestamp())
    # Nothing that is put after the last & can change the time or the user.
    salt = f"{secrets.token_hex(_RANDOM_BYTES)}?expires={expires}&for={user_digest}&"
    challenge = _hash(salt, secrets.randbelow(MAX_NUMBER + 1))
    return Challenge(challenge, salt, _sign(key, challenge))


def check_proof(proof: Proof, key: bytes, user_digest: str, now: datetime) -> CheckedProof:
    """Check a proof of a user. The caller makes sure that it is used once.

    Raises:
        ValidationFailed: on `proof`.
    """
    salt = _SALT.fullmatch(proof.salt)
    challenge = _hash(proof.salt, proof.number)
    signature = proof.signature.encode(errors="replace")
    if (
        salt is None
        or salt[2] != user_digest
        or proof.algorithm != ALGORITHM
        or proof.challenge != challenge
        or not hmac.compare_digest(signature, _sign(key, challenge).encode())
    ):
        raise wrong_proof("is wrong, or is for another user")
    expires_at = datetime.fromtimestamp(int(salt[1]), now.tzinfo)
    if now >= expires_at:
        raise wrong_proof("is too late: solve a new challenge")
    return CheckedProof(challenge, expires_at)


def wrong_proof(message: str) -> ValidationFailed:
    """Return the error for a proof that is not accepted."""
    return ValidationFailed(FieldError("proof", message, "wrong_proof"))


def _hash(salt: str, number: int) -> str:
    return hashlib.sha256(f"{salt}{number}".encode(errors="replace")).hexdigest()


def _sign(key: bytes, challenge: str) -> str:
    return hmac.digest(key, challenge.encode(), "sha256").hex()
