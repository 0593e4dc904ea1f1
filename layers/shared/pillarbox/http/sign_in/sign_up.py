"""Read the requests of those who sign up or want a preview key."""

from typing import Final

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.domain.accounts.account import Plan
from pillarbox.domain.sign_in.sign_up import MAX_NUMBER, Proof
from pillarbox.http.query import one_of
from pillarbox.http.wire import (
    HEADER_TEXT,
    WireModel,
    model,
    optional,
    read_body,
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
    return Proof(**vars(given))


#: In characters. An address, a flow and a token have fewer.
_MAX_KEY_TEXT: Final = 1_000


class ChallengeRequest(WireModel):
    """A request for the work that a code needs."""

    email = required(text(least=1, most=_MAX_KEY_TEXT))
    """Where the code is to go."""


class PreviewCodeRequest(WireModel):
    """A request for the code for a preview key."""

    email = required(text(least=1, most=_MAX_KEY_TEXT))
    """Where the code is to go."""
    proof = required(model(ProofBody))
    """The challenge for this address, solved."""


class PreviewKeyRequest(WireModel):
    """A code and its flow."""

    flow = required(text(least=1, most=_MAX_KEY_TEXT))
    """As the response to the request for a code has it."""
    code = required(text(least=1, most=_MAX_KEY_TEXT))
    """The six digits of the email."""


class PreviewReport(WireModel):
    """A report of a test mail."""

    token = required(text(least=1, most=_MAX_KEY_TEXT))
    """What follows `#` in the link of the test mail."""


def read_code_request(event: APIGatewayProxyEvent) -> tuple[str, Proof]:
    """Read the address for a code, and the proof of work."""
    body = read_body(event, PreviewCodeRequest)
    return body.email, proof_of(body.proof)
