"""Read the requests of signing up."""

from typing import Final

from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.sign_in.sign_up import MAX_NUMBER, Proof
from pillarbox.http.query import one_of
from pillarbox.http.wire import (
    HEADER_TEXT,
    WireModel,
    model,
    optional,
    required,
    text,
    whole_number,
)

#: In characters; a salt has fewer, and hashes have 64.
_MAX_TEXT: Final = 200


class ProofBody(WireModel):
    """A proof of work, in version 1 of the protocol of ALTCHA."""

    algorithm = required(text(most=_MAX_TEXT))
    """`SHA-256`."""
    challenge = required(text(most=_MAX_TEXT))
    """As received."""
    number = required(whole_number(least=0, most=MAX_NUMBER))
    """The number that was found."""
    salt = required(text(most=_MAX_TEXT))
    """As received."""
    signature = required(text(most=_MAX_TEXT))
    """As received."""


class SignUpBody(WireModel):
    """A new account."""

    name = required(text(least=1), pattern=HEADER_TEXT, maxLength=128)
    """The account's name."""
    proof = required(model(ProofBody))
    """The challenge that was solved."""


class ApprovalBody(WireModel):
    """An approval. Without a plan, that of all new accounts counts."""

    plan = optional(one_of(Plan))
    """The plan of the account."""


def proof_of(given: ProofBody) -> Proof:
    """Return the proof in a body."""
    return Proof(
        algorithm=given.algorithm,
        challenge=given.challenge,
        number=given.number,
        salt=given.salt,
        signature=given.signature,
    )
