"""Read the requests for preview keys."""

from typing import Final

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.domain.sign_in.sign_up import Proof
from pillarbox.http.sign_in.sign_up import ProofBody, proof_of
from pillarbox.http.wire import WireModel, model, read_body, required, text

#: In characters. An address, a flow and a token have fewer.
_MAX_TEXT: Final = 1_000


class ChallengeRequest(WireModel):
    """A request for the work that a code needs."""

    email = required(text(least=1, most=_MAX_TEXT))
    """Where the code is to go."""


class PreviewCodeRequest(WireModel):
    """A request for the code for a preview key."""

    email = required(text(least=1, most=_MAX_TEXT))
    """Where the code is to go."""
    proof = required(model(ProofBody))
    """The challenge for this address, solved."""


class PreviewKeyRequest(WireModel):
    """A code and its flow."""

    flow = required(text(least=1, most=_MAX_TEXT))
    """As the response to the request for a code has it."""
    code = required(text(least=1, most=_MAX_TEXT))
    """The six digits of the email."""


class PreviewReport(WireModel):
    """A report of a test mail."""

    token = required(text(least=1, most=_MAX_TEXT))
    """What follows `#` in the link of the test mail."""


def read_code_request(event: APIGatewayProxyEvent) -> tuple[str, Proof]:
    """Read the address for a code, and the proof of work."""
    body = read_body(event, PreviewCodeRequest)
    return body.email, proof_of(body.proof)
