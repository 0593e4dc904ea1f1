"""Read the requests about domains and senders. Only the dashboard sends them."""

from typing import TYPE_CHECKING, Final

from pillarbox.http.requests import read_json
from pillarbox.http.validation import validate
from pillarbox.http.wire import WireModel, required, text

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

#: In characters; a domain or an address may be longer before its labels become A-labels.
_MAX_NAME: Final = 1_016


class AddDomainRequest(WireModel):
    """A domain to send from."""

    domain = required(text(least=1, most=_MAX_NAME))


class AddSenderRequest(WireModel):
    """An address to send from."""

    address = required(text(least=1, most=_MAX_NAME))


def read_domain(event: "APIGatewayProxyEvent") -> str:
    """Read the body of a request that adds a domain.

    Raises:
        ValidationFailed: the body does not have the documented shape.
    """
    return validate(AddDomainRequest, read_json(event)).domain


def read_sender(event: "APIGatewayProxyEvent") -> str:
    """Read the body of a request that adds a sender.

    Raises:
        ValidationFailed: the body does not have the documented shape.
    """
    return validate(AddSenderRequest, read_json(event)).address
