"""Signing up, and the proof of work that it takes, as a preview key does.

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
from enum import StrEnum
from typing import Final

from pillarbox.domain.address import domain_of
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed

DAY: Final = timedelta(days=1)
#: The most accounts that one block of IP addresses creates or asks for in a day.
PER_BLOCK: Final = 5
#: The most emails in a day that tell strangers that they cannot sign up: one for an address, and
#: so many in all, because these people may not have asked for an email.
PER_STRANGER: Final = 1
STRANGERS: Final = 100
#: The most codes in a day, in all, for addresses that may sign up and do not belong to a user. A
#: stranger may be trying a list of addresses.
NEWCOMERS: Final = 500
#: One network takes at most one of so many parts of `STRANGERS` and `NEWCOMERS`.
PARTS: Final = 10
#: The start of the subjects of these counts. `mail_code` may change no others.
STRANGERS_COUNT: Final = "strangers#"
#: The rest of the subject of newcomers' codes.
CODES: Final = "codes"


class SignUpMode(StrEnum):
    """Who may create an account: the parameter `SignUp`."""

    CLOSED = "closed"
    INVITED = "invited"
    APPROVED = "approved"
    OPEN = "open"


class SignUpState(StrEnum):
    """What has become of a sign-up that is stored."""

    INVITED = "invited"
    PENDING = "pending"
    REFUSED = "refused"
    CREATED = "created"


class SignUpStatus(StrEnum):
    """What a user can do: create an account, ask for one, wait, or nothing."""

    AVAILABLE = "available"
    ON_APPROVAL = "on_approval"
    PENDING = "pending"
    REFUSED = "refused"
    CREATED = "created"
    CLOSED = "closed"

    @property
    def needs_name(self) -> bool:
        """Whether the user may now name an account."""
        return self in {SignUpStatus.AVAILABLE, SignUpStatus.ON_APPROVAL}


@dataclass(frozen=True, slots=True, kw_only=True)
class SignUpRequest:
    """The sign-up of a user, of whom there is at most one. An invited one has no name yet."""

    user_id: str
    address: str
    state: SignUpState
    at: datetime
    name: str | None = None
    account_id: str | None = None


@dataclass(frozen=True, slots=True)
class Newcomers:
    """Whether addresses that belong to no user get codes now; if not, until when they get none.

    Without a time they never do. It says nothing of a single address.
    """

    admitted: bool
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignUpPolicy:
    """The operator's choices. Without domains, addresses of every domain may sign up."""

    mode: SignUpMode
    domains: frozenset[str]

    @property
    def is_public(self) -> bool:
        """Whether anybody, perhaps of some domains, may become a user without an invitation."""
        return self.mode in {SignUpMode.APPROVED, SignUpMode.OPEN}

    def admits(self, address: str) -> bool:
        """Return whether the owner of an address may become a user without an invitation."""
        return self.is_public and (not self.domains or domain_of(address).lower() in self.domains)

    def status(self, address: str, request: SignUpRequest | None) -> SignUpStatus:
        """Return what the user of an address can do, given the sign-up that is stored."""
        state = request.state if request else None
        if state is SignUpState.CREATED:
            return SignUpStatus.CREATED
        if self.mode is SignUpMode.CLOSED:
            return SignUpStatus.CLOSED
        if state is SignUpState.INVITED:
            return SignUpStatus.AVAILABLE
        if not self.admits(address):
            return SignUpStatus.CLOSED
        if state is SignUpState.REFUSED:
            return SignUpStatus.REFUSED
        if self.mode is SignUpMode.OPEN:
            return SignUpStatus.AVAILABLE
        return SignUpStatus.PENDING if request else SignUpStatus.ON_APPROVAL


def sign_up_closed(status: SignUpStatus) -> ServiceError:
    reason = {
        SignUpStatus.CREATED: "You have created an account before. The operator adds others.",
        SignUpStatus.REFUSED: "The operator has refused your request for an account.",
    }.get(status, "You cannot create an account here. Ask the operator of the service for one.")
    return ServiceError("sign_up_closed", reason)


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
    expires = round((now + CHALLENGE_TIME).timestamp())
    # Nothing that is put after the last & can change the time or the user.
    salt = f"{secrets.token_hex(_RANDOM_BYTES)}?expires={expires}&for={user_digest}&"
    challenge = _hash(salt, secrets.randbelow(MAX_NUMBER + 1))
    return Challenge(challenge, salt, _sign(key, challenge))


def check_proof(proof: Proof, key: bytes, user_digest: str, now: datetime) -> CheckedProof:
    """Check a proof of a user. The caller makes sure that it is used once."""
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
    return ValidationFailed(FieldError("proof", message, "wrong_proof"))


def _hash(salt: str, number: int) -> str:
    return hashlib.sha256(f"{salt}{number}".encode(errors="replace")).hexdigest()


def _sign(key: bytes, challenge: str) -> str:
    return hmac.digest(key, challenge.encode(), "sha256").hex()
