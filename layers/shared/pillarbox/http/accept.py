"""What every route that sends does, whatever the shape of its requests."""

from collections.abc import Callable
from typing import Protocol

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.application.ports import StoredResponse
from pillarbox.domain.accounts.key import account_of_key
from pillarbox.domain.client_origin import ClientOrigin
from pillarbox.domain.errors import ServiceError
from pillarbox.http.app import log_accepted, request_id
from pillarbox.http.bodies import ParsedSend
from pillarbox.http.messages.replies import Reply, reply_stored
from pillarbox.http.requests import request_origin


class Accepts[Request, Accepted](Protocol):
    """The use case of a route: `SingleSend`, or `BatchSend`."""

    def authenticate(self, key_text: str, *, origin: ClientOrigin | None) -> None:
        """Check the key, before the body is read."""

    def submit(  # noqa: PLR0913  that of the use cases
        self,
        key_text: str,
        request: Request | ServiceError,
        idempotency_digest: str | None,
        write_response: Callable[[Accepted], str],
        /,
        *,
        origin: ClientOrigin | None,
        request_id: str | None,
    ) -> StoredResponse:
        """Accept what the request asks for, or replay the response to its first copy."""


def accept[Request, Accepted](
    event: APIGatewayProxyEvent,
    key_text: str,
    use_case: Accepts[Request, Accepted],
    read: Callable[[APIGatewayProxyEvent], ParsedSend[Request]],
    write: Callable[[Request | ServiceError, Accepted], str],
) -> Reply:
    """Authenticate the key, read the body, submit it, and reply as `write` says.

    The key comes before the use case, so that nothing is made for a request without one.
    """
    origin = request_origin(event)
    use_case.authenticate(key_text, origin=origin)
    send = read(event)
    response = use_case.submit(
        key_text,
        send.request,
        send.idempotency_digest,
        lambda accepted: write(send.request, accepted),
        origin=origin,
        request_id=request_id(event.raw_event),
    )
    log_accepted(event.raw_event, account_of_key(key_text), response)
    return reply_stored(response)
